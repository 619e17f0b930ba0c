import { render } from "ink-testing-library";
import { describe, expect, test, vi } from "vitest";
import { DevScreen } from "./dev-screen.tsx";
import type { DevServer, ServerSnapshot } from "./dev-server.ts";

const mail = (n: number) => ({
  id: `mail_${n}`,
  emailId: null,
  workspaceId: null,
  to: `ada${n}@example.com`,
  from: "hello@acme.example",
  subject: n === 1 ? "Hi\u001b[2J \u202eevil" : `Mail ${n}`,
  size: 10,
  receivedAt: "2030-01-01T10:00:00.000Z",
});

const glance = (mode: "running" | "frozen"): ServerSnapshot => ({
  clock: { now: "2030-01-01T12:00:00.000Z", mode, next: { at: "2030-01-01T12:15:00.000Z", name: "email.deliver" }, timers: 1, fired: [] },
  mails: [mail(1), mail(2)],
  total: 2,
  faults: 1,
  obstacle: "All sending is paused since 2026-01-01T00:00:00.000Z. Go on with: mailsvc queue resume",
  undelivered: [
    {
      ...({ id: "em_1", subject: "Lost" } as ServerSnapshot["undelivered"][number]),
      to: "gone@example.com",
      status: "bounced",
      updatedAt: "2030-01-01T11:00:00.000Z",
      lastError: { smtpCode: 550, enhancedCode: "5.1.1", message: "No such user" },
    },
  ],
  undeliveredTotal: 7,
  requests: [
    {
      ...{ id: "req_1", sequence: 1, at: "2030-01-01T11:59:00.000Z", method: "POST", path: "/api/v1/send", route: "/api/v1/send" },
      ...{ status: 401, error: "unauthorized", ms: 1.2, key: { id: null, name: null, preview: "ms_live_ab…wxyz" } },
    },
  ],
});

const show = (server: Partial<DevServer> = {}, relayHosts: readonly string[] = []) => {
  const calls: string[] = [];
  const say = (word: string) => async (): Promise<string> => {
    calls.push(word);
    return `${word} done`;
  };
  const whole: DevServer = {
    poll: async () => glance("frozen"),
    toggleClock: async (frozen) => {
      calls.push(`toggle ${frozen}`);
      return "toggled";
    },
    nextTimer: say("next"),
    advance: (by) => say(`advance ${by}`)(),
    reset: say("reset"),
    explain: (error) => (error as Error).message,
    ...server,
  };
  const sleep = (_ms: number, signal: AbortSignal): Promise<void> => new Promise((done) => signal.addEventListener("abort", () => done()));
  const screen = render(
    <DevScreen
      url="http://127.0.0.1:2526"
      apiKey="ms_live_x"
      smtpUrl="smtp://127.0.0.1:1025"
      relayHosts={relayHosts}
      profiles={null}
      server={whole}
      sleep={sleep}
      log={{ lines: () => ["warn something"] }}
    />,
  );
  return { screen, calls };
};

describe("the live screen", () => {
  test("shows address, key, clock, next timer, faults and mail, harmless", async () => {
    const { screen } = show();
    await vi.waitFor(() => expect(screen.lastFrame()).toContain("Inbox  2"));
    const frame = screen.lastFrame() ?? "";
    for (const text of [
      "http://127.0.0.1:2526",
      "ms_live_x",
      "smtp     smtp://127.0.0.1:1025",
      "2030-01-01 12:00:00 UTC frozen",
      "waits    All sending is paused since",
      "deliver an email (1 waiting)",
      "1 fault rule",
      "ada2@example.com",
      "Hi evil",
      "11:59:00  401  POST /api/v1/send",
      "unauthorized  ms_live_ab…wxyz",
      "warn something",
    ])
      expect(frame).toContain(text);
    expect(frame).not.toContain("\u202e");
    screen.unmount();
  });

  test("says where mail goes when it is not captured", async () => {
    const { screen } = show({ poll: async () => ({ ...glance("frozen"), mails: [], total: 0 }) }, ["smtp.acme.com"]);
    await vi.waitFor(() => expect(screen.lastFrame()).toContain("Inbox  0"));
    expect(screen.lastFrame()).toContain("mail     leaves through smtp.acme.com");
    expect(screen.lastFrame()).not.toContain("captured here");
    screen.unmount();
  });

  test("its keys act on the server and say what happened", async () => {
    const { screen, calls } = show();
    await vi.waitFor(() => expect(screen.lastFrame()).toContain("frozen"));
    for (const [key, call, said] of [
      ["f", "toggle true", "toggled"],
      ["n", "next", "next done"],
      ["a", "advance 15m", "advance 15m done"],
    ] as const) {
      screen.stdin.write(key);
      await vi.waitFor(() => expect(screen.lastFrame()).toContain(said));
      expect(calls.at(-1)).toBe(call);
    }
    screen.unmount();
  });

  test("r asks before it erases; any key but y is a no", async () => {
    const { screen, calls } = show();
    await vi.waitFor(() => expect(screen.lastFrame()).toContain("frozen"));
    for (const [key, said] of [
      ["n", "Nothing was erased."],
      ["y", "reset done"],
    ] as const) {
      screen.stdin.write("r");
      await vi.waitFor(() => expect(screen.lastFrame()).toContain("Erase all data of this server? y/N"));
      expect(calls).toEqual([]);
      screen.stdin.write(key);
      await vi.waitFor(() => expect(screen.lastFrame()).toContain(said));
    }
    expect(calls).toEqual(["reset"]);
    screen.unmount();
  });

  test("emails that did not arrive are listed with the reason", async () => {
    const { screen } = show();
    await vi.waitFor(() => expect(screen.lastFrame()).toContain("Not delivered  7"));
    expect(screen.lastFrame()).toMatch(/gone@example\.com\s+bounced {2}No such user/);
    screen.unmount();
  });

  test("a server that does not answer is said, not thrown", async () => {
    const { screen } = show({ poll: () => Promise.reject(new Error("no answer")) });
    await vi.waitFor(() => expect(screen.lastFrame()).toContain("no answer"));
    screen.unmount();
  });
});
