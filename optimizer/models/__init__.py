"""Models: the embedded catalogue, weights, servers (llama.cpp, vLLM), replicas, the chat client, its cache and ledger.

Public names: ChatClient (client), Endpoint (endpoint), ResponseCache (cache), Ledger (ledger), plan_serving, serving (provision),
LlamaServer (llama_server), VllmServers (vllm_server).
"""
