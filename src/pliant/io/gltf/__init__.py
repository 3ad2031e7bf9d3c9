"""glTF: the container, its JSON, arrays, skeletons, clips and skins."""
