"""Items: what they are, how files of them are read, checked, split by cluster and made anew; passages to show beside them.

Public names: Item, Label (item), load_items, read_items (loaders), load_data (datafile), split_items, Splits (splits),
check_items (checks), Survey (survey), load_passages (passages).
"""
