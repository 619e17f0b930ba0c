import { eq, type SQL, sql } from "drizzle-orm";
import type { Reader, Schema, Tx } from "../db/db.ts";

/** The row of `meta` that exists while sending is paused. */
const PAUSE_ROW = "queue.paused";

/** The condition that sending is paused, for claims. */
export function isPaused({ meta }: Pick<Schema, "meta">): SQL {
  return sql`exists (select 1 from ${meta} where ${meta.name} = ${sql.raw(`'${PAUSE_ROW}'`)})`;
}

/** Start of a pause of sending, ms, and its reason. */
export interface Pause {
  readonly at: number;
  readonly reason: string | null;
}

/** The pause that an operator has ordered; null when there is none. */
export async function readPause(q: Tx | Reader): Promise<Pause | null> {
  const [row] = await q
    .prepared("read_pause", (build, { meta }, arg) =>
      build
        .select({ value: meta.value })
        .from(meta)
        .where(eq(meta.name, arg("name"))),
    )
    .execute({ name: PAUSE_ROW });
  return row ? (JSON.parse(row.value) as Pause) : null;
}

export async function writePause(tx: Tx, pause: Pause): Promise<void> {
  const { meta } = tx.t;
  const value = JSON.stringify(pause);
  await tx.insert(meta).values({ name: PAUSE_ROW, value }).onConflictDoUpdate({ target: meta.name, set: { value } });
}

export async function deletePause(tx: Tx): Promise<void> {
  const { meta } = tx.t;
  await tx.delete(meta).where(eq(meta.name, PAUSE_ROW));
}
