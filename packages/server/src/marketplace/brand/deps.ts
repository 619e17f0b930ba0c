import type { Clock } from "../../lib/clock.ts";

export interface BrandDeps {
  readonly clock: Clock;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
}
