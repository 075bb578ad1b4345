"""Graphs as TensorFlow writes them into files, without runs: GraphDef, MetaGraphDef, SavedModel, RunMetadata."""
