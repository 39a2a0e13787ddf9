"""A module that the builder needs, so that its code counts."""

FACTOR = 1.0
