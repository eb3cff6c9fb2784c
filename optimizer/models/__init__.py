"""Models: the embedded catalogue, fetching weights, the local llama.cpp server, the chat client, its cache and ledger.

Public names: ChatClient (client), Endpoint (endpoint), ResponseCache (cache), Ledger (ledger), LlamaServer (llama_server).
"""
