import { describe, expectTypeOf, test } from "vitest";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { AgentReadContext, AgentWriteContext } from "../http/handler.ts";
import type { Queue } from "../queue/queue.ts";
import type { Tables } from "../schema.ts";
import type { AgentDeps, AgentTables, AgentTx } from "./agent-access.ts";

// Checked by the compiler: a handler of the agent API that uses contacts or emails does not build.
describe("what an agent's handlers are given", () => {
  test("has no table of people or mail", () => {
    type People =
      | "contacts"
      | "emails"
      | "contents"
      | "attachments"
      | "events"
      | "suppressions"
      | "senders"
      | "keys"
      | "inbox"
      | "idempotency";
    expectTypeOf<Extract<keyof AgentTables, People>>().toEqualTypeOf<never>();
    expectTypeOf<Extract<keyof Tables, People>>().not.toEqualTypeOf<never>();
    expectTypeOf<AgentWriteContext<AgentDeps, AgentTables>["tx"]>().toEqualTypeOf<AgentTx>();
    expectTypeOf<AgentReadContext<AgentDeps, AgentTables>["read"]>().toEqualTypeOf<Reader<AgentTables>>();
    expectTypeOf<AgentTx["t"]>().toEqualTypeOf<AgentTables>();
  });

  test("has no database besides its transaction, no mailer, no keys, and no jobs but its own", () => {
    type Reach = "db" | "mailer" | "keyCache" | "dns" | "payments";
    expectTypeOf<Extract<keyof AgentDeps, Reach>>().toEqualTypeOf<never>();
    expectTypeOf<Extract<keyof Deps, Reach>>().toEqualTypeOf<Reach>();
    expectTypeOf<Parameters<AgentDeps["queue"]["enqueue"]>[1]["kind"]>().toEqualTypeOf<`agent.${string}`>();
    expectTypeOf<keyof AgentDeps["queue"]>().toEqualTypeOf<"enqueue">();
    expectTypeOf<keyof Queue>().not.toEqualTypeOf<"enqueue">();
  });

  test("does not fit where more is asked for, while more fits where it is", () => {
    expectTypeOf<AgentTx>().not.toExtend<Tx>();
    expectTypeOf<AgentReadContext<AgentDeps, AgentTables>["read"]>().not.toExtend<Reader>();
    expectTypeOf<AgentDeps>().not.toExtend<Deps>();
    expectTypeOf<Tx>().toExtend<AgentTx>();
    expectTypeOf<Deps>().toExtend<AgentDeps>();
  });
});
