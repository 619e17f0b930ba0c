// Loaded with the first event that leaves: a server without webhooks starts without it. By name and in its own module: a bundle
// that loads undici itself, lazily, would find all of it under `default`. In a module that a start loads, it would be loaded too.
export { buildConnector, Client } from "undici";
