"""WebSpatial: spatial questions from running web 3D applications; start reading at `builder`."""
