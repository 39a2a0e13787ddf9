"""From a running page to a stored capture. The only part of WebSpatial that needs a browser; `builder` never does."""
