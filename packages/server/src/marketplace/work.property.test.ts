import { ApiError } from "@mailsvc/sdk";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type TestAgent, withAgent } from "../../test/agent-at-work.ts";
import { propertyRuns } from "../../test/property-runs.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/*
 * Random actions of an agent and its brand against a model: runs, approvals, wakeups, credits and time. After each step every run
 * and every approval must match the model; at the end all events that the builder received must match it too.
 */

const WINDOW = 900_000;
const START = Date.parse("2026-01-01T00:00:00Z");

interface ModelRun {
  runId: string;
  status: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED";
  deadlineAt: number | null;
  waitingOn: string | null;
  finishedAt: number | null;
  failureReason: string | null;
  credits: number;
  asked: boolean;
}
interface ModelApproval {
  id: string;
  run: ModelRun | null;
  suspend: boolean;
  status: string;
  expiresAt: number;
}
interface ModelWakeup {
  id: string;
  run: ModelRun | null;
  suspend: boolean;
  status: string;
  fireAt: number;
}

const isActive = (run: ModelRun): boolean => run.status === "RUNNING" || run.status === "WAITING";

class Model {
  now = START;
  runs: ModelRun[] = [];
  approvals: ModelApproval[] = [];
  wakeups: ModelWakeup[] = [];
  spent: { id: string; run: ModelRun | null; left: number; at: number }[] = [];
  balance = 0;
  told: string[] = [];

  end(run: ModelRun, status: ModelRun["status"], at: number, failureReason: string | null = null): void {
    Object.assign(run, { status, finishedAt: at, deadlineAt: null, waitingOn: null, failureReason });
    for (const a of this.approvals)
      if (a.run === run && (a.suspend || status !== "COMPLETED") && a.status === "PENDING") a.status = "CANCELLED";
    for (const w of this.wakeups) if (w.run === run && w.suspend && w.status === "SCHEDULED") w.status = "CANCELLED";
  }

  over(run: ModelRun | null, on: string): void {
    if (run?.status !== "WAITING" || run.waitingOn !== on) return;
    const approval = this.approvals.findLast((a) => a.run === run && a.suspend && a.status === "PENDING");
    const wakeup = this.wakeups.findLast((w) => w.run === run && w.suspend && w.status === "SCHEDULED");
    if (approval) Object.assign(run, { waitingOn: approval.id, deadlineAt: approval.expiresAt });
    else if (wakeup) Object.assign(run, { waitingOn: wakeup.id, deadlineAt: wakeup.fireAt });
    else Object.assign(run, { status: "RUNNING", waitingOn: null, deadlineAt: this.now + WINDOW });
  }

  pass(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const due: { at: number; happen: () => void }[] = [
        ...this.runs.flatMap((run) =>
          run.status === "RUNNING" && run.deadlineAt !== null
            ? [
                {
                  at: run.deadlineAt,
                  happen: () => {
                    this.told.push(`run_force_failed ${run.runId} ${run.deadlineAt}`);
                    this.end(run, "FAILED", this.now, "heartbeat_timeout");
                  },
                },
              ]
            : [],
        ),
        ...this.approvals.flatMap((a) =>
          a.status === "PENDING"
            ? [
                {
                  at: a.expiresAt,
                  happen: () => {
                    a.status = "EXPIRED";
                    this.told.push(`approval_response ${a.id} expired`);
                    this.over(a.run, a.id);
                  },
                },
              ]
            : [],
        ),
        ...this.wakeups.flatMap((w) =>
          w.status === "SCHEDULED"
            ? [
                {
                  at: w.fireAt,
                  happen: () => {
                    w.status = "FIRED";
                    this.told.push(`agent.wakeup ${w.id}`);
                    this.over(w.run, w.id);
                  },
                },
              ]
            : [],
        ),
      ].sort((x, y) => x.at - y.at);
      const next = due[0];
      if (!next || next.at > until) break;
      this.now = next.at;
      next.happen();
    }
    this.now = until;
  }
}

type Command = { [key: string]: unknown; do: string; n: number; flag: boolean; size: number };

const command: fc.Arbitrary<Command> = fc.record({
  do: fc.constantFrom(
    ...["start", "log", "log", "complete", "fail", "cancel", "stop", "ask", "ask", "answer", "answer", "withdraw", "wake", "unwake"],
    ...["grant", "consume", "consume", "refund", "pass", "pass", "pass"],
  ),
  n: fc.nat(1000),
  flag: fc.boolean(),
  size: fc.nat(1_200_000),
});

const outcome = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return "ok";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};

const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(1, items.length)];

const perform = async (world: TestWorld, { client, activationId }: TestAgent, model: Model, { do: what, n, flag, size }: Command) => {
  const run = pick(model.runs, n);
  const gone = (r: ModelRun | undefined): string => (r === undefined ? "not_found" : isActive(r) ? "ok" : "invalid_state");
  const runId = run?.runId ?? "run_nobody_knows";
  if (what === "start") {
    const full = model.runs.filter(isActive).length >= 20;
    const got = outcome(client.runs.start({ runId: `run-number-${model.runs.length}` }));
    expect(await got).toBe(full ? "limit_reached" : "ok");
    if (!full)
      model.runs.push({
        runId: `run-number-${model.runs.length}`,
        status: "RUNNING",
        deadlineAt: model.now + WINDOW,
        waitingOn: null,
        finishedAt: null,
        failureReason: null,
        credits: 0,
        asked: false,
      });
  } else if (what === "log") {
    expect(await outcome(client.runs.log({ runId, entries: [{ message: "x" }] }))).toBe(gone(run));
    if (run && isActive(run)) Object.assign(run, { status: "RUNNING", waitingOn: null, deadlineAt: model.now + WINDOW });
  } else if (what === "complete" || what === "fail" || what === "cancel") {
    const status = what === "complete" ? "COMPLETED" : what === "fail" ? "FAILED" : "CANCELLED";
    const call =
      what === "complete"
        ? client.runs.complete({ runId })
        : what === "fail"
          ? client.runs.fail({ runId, error: { code: "x", message: "y" } })
          : client.runs.cancel({ runId });
    const again = run?.status === status && run.failureReason !== "heartbeat_timeout";
    expect(await outcome(call)).toBe(again ? "ok" : gone(run));
    if (run && isActive(run)) model.end(run, status, model.now, what === "fail" ? "reported" : null);
  } else if (what === "stop") {
    expect(await outcome(world.sdk.runs.cancel(activationId, runId, { force: flag }))).toBe(run?.status === "CANCELLED" ? "ok" : gone(run));
    if (run && isActive(run)) {
      run.asked = true;
      if (flag || run.status === "WAITING") model.end(run, "CANCELLED", model.now);
    }
  } else if (what === "ask") {
    const of = n % 5 === 0 ? undefined : run;
    const seconds = [61, 599, 1801, 5003][n % 4] ?? 61;
    const approval = { title: "?", suspendRun: flag, expiresInSeconds: seconds };
    const posted = client.messages.create({ type: "APPROVAL_REQUEST", text: "?", approval, ...(of && { runId: of.runId }) });
    expect(await outcome(posted)).toBe(of ? gone(of) : "ok");
    if (of && !isActive(of)) return;
    const { id } = await posted;
    const suspend = of !== undefined && flag;
    model.approvals.push({ id, run: of ?? null, suspend, status: "PENDING", expiresAt: model.now + seconds * 1000 });
    if (of && suspend) Object.assign(of, { status: "WAITING", waitingOn: id, deadlineAt: model.now + seconds * 1000 });
  } else if (what === "answer" || what === "withdraw") {
    const approval = pick(model.approvals, n);
    if (!approval) return;
    const open = approval.status === "PENDING";
    const call =
      what === "answer"
        ? world.sdk.messages.answer(approval.id, { decision: flag ? "approve" : "reject" })
        : client.messages.cancel(approval.id, {});
    expect(await outcome(call)).toBe(open || (what === "withdraw" && approval.status === "CANCELLED") ? "ok" : "invalid_state");
    if (!open) return;
    approval.status = what === "withdraw" ? "CANCELLED" : flag ? "APPROVED" : "REJECTED";
    if (what === "answer") model.told.push(`approval_response ${approval.id} ${flag ? "approved" : "rejected"}`);
    model.over(approval.run, approval.id);
  } else if (what === "wake") {
    const suspend = flag && run !== undefined;
    const seconds = [11, 613, 1799][n % 3] ?? 11;
    const made = client.wakeups.create({ delaySeconds: seconds, reason: "x", ...(run && { runId: run.runId }), suspendRun: suspend });
    expect(await outcome(made)).toBe(suspend ? gone(run) : "ok");
    if (suspend && run && !isActive(run)) return;
    const { wakeupId: id } = await made;
    model.wakeups.push({ id, run: run ?? null, suspend, status: "SCHEDULED", fireAt: model.now + seconds * 1000 });
    if (suspend && run) Object.assign(run, { status: "WAITING", waitingOn: id, deadlineAt: model.now + seconds * 1000 });
  } else if (what === "unwake") {
    const wakeup = pick(model.wakeups, n);
    if (!wakeup) return;
    expect(await outcome(client.wakeups.cancel(wakeup.id))).toBe(wakeup.status === "FIRED" ? "invalid_state" : "ok");
    if (wakeup.status !== "SCHEDULED") return;
    wakeup.status = "CANCELLED";
    model.over(wakeup.run, wakeup.id);
  } else if (what === "grant") {
    await world.sdk.credits.grant({ amount: (n % 50) + 1 });
    model.balance += (n % 50) + 1;
  } else if (what === "consume") {
    const amount = (size % 40) + 1;
    const of = flag ? run : undefined;
    const spent = client.credits.consume({ amount, action: "draft", ...(of && { runId: of.runId }) });
    const expected = of && !isActive(of) ? "invalid_state" : amount > model.balance ? "insufficient_credits" : "ok";
    expect(await outcome(spent)).toBe(expected);
    if (expected !== "ok") return;
    model.balance -= amount;
    if (of) of.credits += amount;
    model.spent.push({ id: (await spent).transactionId, run: of ?? null, left: amount, at: model.now });
  } else if (what === "refund") {
    const spent = pick(model.spent, n);
    if (!spent) return;
    const amount = (size % 20) + 1;
    const late = model.now >= spent.at + 86_400_000;
    const expected = late ? "invalid_state" : amount > spent.left ? "already_refunded" : "ok";
    expect(await outcome(client.credits.refund(spent.id, { amount, reason: "x" }))).toBe(expected);
    if (expected !== "ok") return;
    spent.left -= amount;
    model.balance += amount;
    if (spent.run) spent.run.credits -= amount;
  } else {
    const ms = flag ? size : size % 7000;
    await world.clock.advance(`${ms + 1}ms`);
    model.pass(ms + 1);
  }
};

const at = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso));

const compare = async (world: TestWorld, { client, activationId }: TestAgent, model: Model): Promise<void> => {
  const shown = (await client.runs.list({ limit: 100 })).data.reverse();
  expect(
    shown.map((r) => [r.runId, r.status, at(r.deadlineAt), at(r.finishedAt), r.failureReason, r.creditsConsumed, r.cancelRequested]),
  ).toEqual(model.runs.map((r) => [r.runId, r.status, r.deadlineAt, r.finishedAt, r.failureReason, r.credits, r.asked]));
  const asked = (await world.sdk.messages.list(activationId, { type: "APPROVAL_REQUEST", limit: 100 })).data.reverse();
  expect(asked.map(({ id, approval }) => [id, approval?.status])).toEqual(model.approvals.map(({ id, status }) => [id, status]));
  expect((await client.credits.get()).balance).toBe(model.balance);
};

test("runs, approvals, wakeups and credits match a model over random operations of agent and brand", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 60 }), async (commands) => {
      await using world = await createWorld();
      await using made = await withAgent(world);
      const model = new Model();
      for (const one of commands) {
        await perform(world, made.agent, model, one);
        await compare(world, made.agent, model);
      }
      const wakeups = (await made.agent.client.wakeups.list({ limit: 100 })).data.reverse();
      expect(wakeups.map(({ wakeupId, status }) => [wakeupId, status])).toEqual(model.wakeups.map(({ id, status }) => [id, status]));
      const told = await made.agent.heard("run_force_failed", "approval_response", "agent.wakeup");
      const lines = told.map((e) =>
        e.type === "run_force_failed"
          ? `${e.type} ${e.runId} ${Date.parse(e.timestamp)}`
          : e.type === "approval_response"
            ? `${e.type} ${e.messageId} ${e.decision}`
            : `${e.type} ${e.wakeupId}`,
      );
      expect(lines.sort()).toEqual([...model.told].sort());
      const sequences = told.map(({ sequence }) => sequence);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    }),
    { numRuns: propertyRuns(25), seed: 20260101, endOnFailure: false },
  );
});
