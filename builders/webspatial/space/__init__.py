"""What is said about a captured scene: names, relations, motions, programs over them, and the questions."""
