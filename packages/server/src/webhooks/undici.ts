// Loaded when the first event leaves. By name and in a module of its own: a bundle that loads undici itself, lazily, would
// find all of it under `default`.
export { buildConnector } from "undici";
