import type { Db } from "../db/db.ts";
import type { EmailDeps, MessageReading } from "../emails/deps.ts";
import type { FailedLogins } from "../http/failed-logins.ts";
import type { MailParser } from "../inbound/inbound.ts";
import type { KeyCache } from "../keys/keys.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import type { RevocationWatch } from "../lib/revocation-watch.ts";
import type { Seal } from "../lib/seal.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Queue } from "../queue/queue.ts";
import type { MailCapture } from "../relays/deps.ts";
import type { ShowsMarketplace } from "../workspaces/workspaces.ts";
import type { DashboardFiles } from "./files.ts";
import type { OidcConfig } from "./oidc-config.ts";
import type { SessionWatch } from "./sessions.ts";
import type { SsoConfig } from "./sso.ts";

export interface SessionDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  baseUrl(): string;
  readonly sessionWatch: Pick<SessionWatch, "watch" | "checkNow">;
}

export interface DashboardDeps extends SessionDeps, MessageReading, MailCapture {
  readonly failedLogins: FailedLogins;
  readonly keyCache: Pick<KeyCache, "hash" | "load" | "isOperator">;
  readonly keyWatch: Pick<RevocationWatch, "watch">;
  readonly mailer: Mailer;
  readonly queue: Pick<Queue, "enqueue">;
  readonly seal: Seal;
  readonly log: Log;
  readonly renderHooks: EmailDeps["renderHooks"];
  readonly version: string;
  readonly showsMarketplace: ShowsMarketplace;
  readonly config: { readonly dev: boolean; readonly mailFrom: string; readonly sso: SsoConfig | null; readonly oidc: OidcConfig | null };
  readonly dashboardFiles: DashboardFiles;
  readonly capturedMailParser: MailParser;
}
