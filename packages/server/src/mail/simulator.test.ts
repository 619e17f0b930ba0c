import { describe, expect, test } from "vitest";
import { sampleMail } from "./mailer.laws.ts";
import type { Mailer, OutgoingMail } from "./mailer.ts";
import { listSimulatedReactions, SIMULATOR, simulator } from "./simulator.ts";

const recorder = (name: Mailer["name"]) => {
  const sent: OutgoingMail[] = [];
  let closed = false;
  const mailer: Mailer = {
    name,
    transactional: name === "capture",
    concurrency: 7,
    send: async (mail) => {
      sent.push(mail);
      return { outcome: "delivered", response: "kept" };
    },
    check: async () => "not today",
    fault: () => "not at all",
    close: async () => {
      closed = true;
    },
  };
  return { mailer, sent, isClosed: () => closed };
};

const to = (local: string, attempt = 1) => sampleMail({ envelopeTo: `${local}@simulator.mailsvc.test`, attempt });

describe("The simulator", () => {
  test.each([
    ["bounced", 1, { outcome: "bounced", error: { smtpCode: 550, enhancedCode: "5.1.1" } }],
    ["BOUNCED+any.label", 9, { outcome: "bounced" }],
    ["nobody-we-know", 1, { outcome: "bounced", error: { smtpCode: 550, enhancedCode: "5.1.1" } }],
    ["softbounced", 1, { outcome: "deferred", error: { smtpCode: 452, enhancedCode: "4.2.2" } }],
    ["softbounced", 12, { outcome: "deferred" }],
    ["delayed+x", 1, { outcome: "deferred", error: { smtpCode: 451, enhancedCode: "4.7.1" } }],
    ["timeout", 1, { outcome: "unknown", error: { smtpCode: null } }],
  ])("%s at attempt %d fails and reaches nobody", async (local, attempt, receipt) => {
    const { mailer, sent } = recorder("capture");
    expect(await simulator(mailer).send(to(local, attempt))).toMatchObject(receipt);
    expect(sent).toEqual([]);
  });

  test.each(["delivered", "opened+1", "clicked", "complained", "Delivered+a+b"])(
    "%s lands in the inbox of capture, and never on the network",
    async (local) => {
      const capture = recorder("capture");
      expect(await simulator(capture.mailer).send(to(local))).toEqual({ outcome: "delivered", response: "kept" });
      expect(capture.sent).toHaveLength(1);
      const smtp = recorder("smtp");
      expect(await simulator(smtp.mailer).send(to(local))).toMatchObject({ outcome: "delivered" });
      expect(smtp.sent).toEqual([]);
    },
  );

  test.each(["delayed", "timeout"])("%s is delivered at the second attempt", async (local) => {
    const { mailer, sent } = recorder("capture");
    expect(await simulator(mailer).send(to(local, 2))).toMatchObject({ outcome: "delivered" });
    expect(sent).toHaveLength(1);
  });

  test("lets all other mail pass", async () => {
    const { mailer, sent } = recorder("smtp");
    for (const envelopeTo of [
      "bounced@example.com",
      "bounced@sub.simulator.mailsvc.test",
      '"bounced@simulator.mailsvc.test"@example.com',
    ]) {
      await simulator(mailer).send(sampleMail({ envelopeTo }));
    }
    expect(sent).toHaveLength(3);
  });

  test("is otherwise the mailer it stands before", async () => {
    const { mailer, isClosed } = recorder("capture");
    const wrapped = simulator(mailer);
    expect(wrapped).toMatchObject({ name: "capture", transactional: true, concurrency: 7 });
    expect(await wrapped.check()).toBe("not today");
    await wrapped.close();
    expect(isClosed()).toBe(true);
  });

  test("knows what recipients do later, in order", () => {
    expect(listSimulatedReactions("clicked+x@simulator.mailsvc.test", true).map((reaction) => reaction.type)).toEqual([
      "email.opened",
      "email.clicked",
    ]);
    expect(listSimulatedReactions("complained@Simulator.mailsvc.test", true)).toEqual([{ type: "email.complained", afterMs: 5000 }]);
    expect(listSimulatedReactions("clicked@example.com", true)).toEqual([]);
    expect(listSimulatedReactions("bounced@simulator.mailsvc.test", true)).toEqual([]);
    for (const { reactions } of SIMULATOR)
      expect(reactions.map((r) => r.afterMs)).toEqual(reactions.map((r) => r.afterMs).sort((a, b) => a - b));
  });
});
