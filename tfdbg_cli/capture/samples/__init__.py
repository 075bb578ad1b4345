"""The data of the program from which batches were made, and the records in them behind rows of a batch."""
