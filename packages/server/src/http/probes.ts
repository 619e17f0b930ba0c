/** A load balancer's probes: served at once, however busy the server is. */
export const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);
