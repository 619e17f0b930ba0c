import type { Permission } from "@mailsvc/sdk/contract";
import { createKey } from "../src/keys/keys.ts";
import type { TestWorld } from "../src/testing.ts";

/** A second workspace in the same world, with an owner key of its own. */
export async function secondWorkspace({ app: { deps } }: TestWorld): Promise<{ workspaceId: string; apiKey: string }> {
  const workspaceId = deps.ids("ws");
  const apiKey = await deps.db.tx(async (tx) => {
    await tx.insert(tx.t.workspaces).values({ id: workspaceId, name: "other", createdAt: deps.clock.now() });
    return (await createKey(tx, deps, workspaceId, { name: "owner", permissions: [], owner: true })).key;
  });
  return { workspaceId, apiKey };
}

/** A key of the world's workspace that may do just this. */
export async function keyFor({ sdk }: TestWorld, ...permissions: Permission[]): Promise<string> {
  return (await sdk.keys.create({ name: "test", permissions })).key;
}
