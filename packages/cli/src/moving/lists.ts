import { hash } from "node:crypto";
import { contract, type List, type Page } from "@mailsvc/sdk/contract";
import { CliError, hasStatus } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import type { SourceList } from "./source.ts";
import type { Tally } from "./tally.ts";

/** A list here that takes the members of one there; without an id while it is not created, in a dry run. */
interface TargetList {
  readonly id: string | undefined;
  readonly isNew: boolean;
}

/** The lists here, by the keys of the source's. */
export type TargetLists = ReadonlyMap<string, TargetList>;

/** Finds the lists of a source here by their names, and creates those that are missing. Throws CliError for one that asks its members. */
export async function findLists(
  session: Session,
  { title: source, lists }: { readonly title: string; readonly lists: readonly SourceList[] },
  tally: Tally,
  dryRun: boolean,
): Promise<TargetLists> {
  const known = new Map((await listAll(session)).map((list) => [list.name, list]));
  const wanted = nameApart(lists);
  const asking = wanted.flatMap(({ name }) => (known.get(name)?.doubleOptIn ? [known.get(name) as List] : []));
  const [first] = asking;
  if (first)
    throw new CliError({
      code: "invalid_state",
      message: `The list ${JSON.stringify(first.name)} asks everybody who joins for confirmation, so that moving people would mail them.`,
      exit: EXIT.conflict,
      hint: "They confirmed at the former service. Turn it off for the move, then on again.",
      next: `mailsvc lists update ${first.id} --no-double-opt-in`,
    });
  const found = new Map<string, TargetList>();
  for (const { key, name, description, public: isPublic } of wanted) {
    tally.read("lists");
    const list = known.get(name);
    if (list) {
      tally.count("lists", "unchanged");
      found.set(key, { id: list.id, isNew: false });
      continue;
    }
    tally.count("lists", "added");
    if (dryRun) found.set(key, { id: undefined, isNew: true });
    else
      found.set(key, {
        id: await createList(session, `${source} ${key}`, { name, public: isPublic, ...(description && { description }) }),
        isNew: true,
      });
  }
  return found;
}

/** Creates a list once for `origin`, also when a run that was killed a moment ago has just asked for it. Returns its id. */
async function createList(session: Session, origin: string, body: object): Promise<string> {
  const call = { ...buildCall(contract.lists.create, [], {}, body), untilDone: true };
  const text = `${origin}\n${JSON.stringify(body)}`;
  const headers = { "Idempotency-Key": `move-${hash("sha256", text, "hex").slice(0, 40)}` };
  const { data, headers: answered } = await session.send({ ...call, headers });
  const { id } = data as List;
  if (answered["idempotency-replayed"] !== "true" || (await exists(session, id))) return id;
  return ((await session.send(call)).data as List).id;
}

async function exists(session: Session, id: string): Promise<boolean> {
  try {
    await session.send(buildCall(contract.lists.get, [id], {}, undefined));
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    throw error;
  }
}

/** Names of lists that differ: of two that are called alike, the later ones get their keys. */
function nameApart(sources: readonly SourceList[]): SourceList[] {
  const used = new Set<string>();
  return sources.map((list) => {
    const name = used.has(list.name) ? `${list.name} (${list.key})` : list.name;
    used.add(name);
    return { ...list, name };
  });
}

async function listAll(session: Session): Promise<List[]> {
  const lists: List[] = [];
  for (let cursor: string | null = null; ; ) {
    const query = { limit: 100, ...(cursor === null ? {} : { cursor }) };
    const { data, pagination } = (await session.send(buildCall(contract.lists.list, [], query, undefined))).data as Page<List>;
    lists.push(...data);
    cursor = pagination.nextCursor ?? null;
    if (cursor === null) return lists;
  }
}
