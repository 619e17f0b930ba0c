import type { Db } from "../db/db.ts";
import type { Mailer } from "../mail/mailer.ts";

/** What the dev page needs. */
export interface DashboardDeps {
  readonly db: Db;
  readonly mailer: Mailer;
  readonly version: string;
}
