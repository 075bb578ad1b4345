"""What is TensorFlow's: private parts, op errors, handles, methods replaced, proxies, answers kept with objects."""
