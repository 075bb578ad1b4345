"""What tfdbg takes from TensorFlow and keeps with its objects: private parts, op errors, handles, memo, proxy."""
