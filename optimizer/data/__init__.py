"""Items: what they are, how files of them are read, and how they are split by cluster.

Public names: Item, Label (item), load_items (loaders), split_items, Splits (splits).
"""
