import type { Permission } from "@mailsvc/sdk/contract";
import type { TestWorld, WorkspaceClient } from "../src/testing.ts";

/** A second workspace in the same world, with its own owner key. */
export function secondWorkspace(world: TestWorld): Promise<WorkspaceClient> {
  return world.createWorkspace("other");
}

/** A key of the world's workspace that may do just this. */
export async function keyFor({ sdk }: TestWorld, ...permissions: Permission[]): Promise<string> {
  return (await sdk.keys.create({ name: "test", permissions })).key;
}
