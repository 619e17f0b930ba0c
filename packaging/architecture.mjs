/** The architecture of this machine as Debian and container images name it; undefined for one that no file is made for. */
export const ARCHITECTURE = { x64: "amd64", arm64: "arm64" }[process.arch];
