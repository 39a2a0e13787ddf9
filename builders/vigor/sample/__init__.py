"""The bundled sample, and the program that draws it."""
