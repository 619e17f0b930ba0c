import type { CampaignStats } from "@mailsvc/sdk/contract";
import { render } from "ink-testing-library";
import { expect, test } from "vitest";
import { CampaignProgress } from "./campaign-progress.tsx";

const recipients = { total: 10_000, queued: 2500, sending: 0, delivered: 7000, bounced: 500 };
const stats = { status: "SENDING", recipients, opens: { unique: 1234 }, clicks: { unique: 56 } } as unknown as CampaignStats;
const idle = (_ms: number, signal: AbortSignal): Promise<void> => new Promise((done) => signal.addEventListener("abort", () => done()));

test("shows how far a campaign is, how fast, and what became of the mail", () => {
  const screen = render(<CampaignProgress name="Launch" stats={() => stats} pace={() => 812.4} sleep={idle} />);
  const frame = screen.lastFrame() ?? "";
  expect(frame).toContain("Sending Launch  10,000 recipients  812 a second");
  expect(frame).toMatch(/━{30}─{10} {2}75 %/);
  expect(frame).toContain("delivered 7,000   queued 2,500   bounced 500   opened 1,234   clicked 56");
  screen.unmount();
});

test("before the first numbers it says so", () => {
  const screen = render(<CampaignProgress name="Launch" stats={() => null} pace={() => 0} sleep={idle} />);
  expect(screen.lastFrame()).toContain("Waiting for the first numbers");
  screen.unmount();
});
