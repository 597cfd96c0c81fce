"""Facts of files in other formats: C++, protobuf, TOML, requirements, Dockerfiles, CMake."""
