"""What a run is: tensors, graph, sources, feeds, and the moments at which a user looks at one.

Plain data and NumPy. Nothing here imports TensorFlow, urwid or any other layer of tfdbg.
"""
