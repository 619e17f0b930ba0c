import { describe, expect, expectTypeOf, test } from "vitest";
import { AgentClient, isMailsvcError, Mailsvc } from "./index.ts";

const PDF = new TextEncoder().encode("%PDF-1.7\n%%EOF\n");

/** A client, and the forms it sent. */
const sending = () => {
  const sent: { form: FormData; type: string; key: string | undefined }[] = [];
  let failing = 0;
  const fetch = async (_url: string, { headers, body }: { headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> }) => {
    const type = headers["content-type"] ?? "";
    const form = type.startsWith("multipart/")
      ? await new Response(body, { headers: { "content-type": type } }).formData()
      : new FormData();
    sent.push({ form, type, key: headers["idempotency-key"] });
    if (failing > 0) {
      failing -= 1;
      return Response.json({}, { status: 503 });
    }
    return Response.json({ id: "lm_1" });
  };
  const options = { baseUrl: "http://mail.test", fetch, sleep: async () => {} };
  return {
    sent,
    brand: new Mailsvc({ ...options, apiKey: "ms_live_x" }),
    agent: new AgentClient({ ...options, apiKey: "ms_agent_x", activationId: "act_1" }),
    failNext: (n: number) => {
      failing = n;
    },
  };
};

const fileIn = async (form: FormData | undefined) => {
  const file = form?.get("file");
  if (!(file instanceof File)) throw new Error("no file was sent");
  return { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) };
};

const streamed = async function* () {
  yield PDF.subarray(0, 4);
  yield PDF.subarray(4);
};

describe("a file where base64 is asked", () => {
  const sources = {
    "a Buffer": () => Buffer.from(PDF),
    "bytes amid others": () => new Uint8Array([1, ...PDF, 2]).subarray(1, PDF.length + 1),
    "an ArrayBuffer": () => PDF.slice().buffer,
    "a Blob": () => new Blob([PDF]),
    "a stream of Node": streamed,
    "a stream of the web": () => new Blob([PDF]).stream(),
  };

  test.each(Object.entries(sources))("goes as a form, byte for byte: %s", async (_, source) => {
    const { brand, sent } = sending();
    await brand.leadMagnets.create({
      file: source(),
      fileName: "guide.pdf",
      contentType: "application/pdf",
      title: "Grüße",
      description: null,
    });
    const [{ form, type } = { form: undefined, type: "" }] = sent;
    expect(type).toMatch(/^multipart\/form-data; boundary=/);
    expect(await fileIn(form)).toEqual({ name: "guide.pdf", type: "application/pdf", bytes: PDF });
    expect([form?.get("title"), form?.has("description"), form?.has("fileName"), form?.has("contentType")]).toEqual([
      "Grüße",
      false,
      false,
      false,
    ]);
  });

  test("brings its own name and type when it is a File, for agents too; lists are repeated", async () => {
    const { agent, sent } = sending();
    await agent.assets.create({ file: new File([PDF], "logo.png", { type: "image/png" }), tags: ["a", "b"], alt: "Logo" });
    expect(await fileIn(sent[0]?.form)).toMatchObject({ name: "logo.png", type: "image/png" });
    expect(sent[0]?.form.getAll("tags")).toEqual(["a", "b"]);
  });

  test("is sent again as it was, under the same Idempotency-Key", async () => {
    const { brand, sent, failNext } = sending();
    failNext(1);
    await brand.assets.create({ file: streamed(), fileName: "a.png" });
    expect(sent.map(({ type }) => type)).toEqual([sent[0]?.type, sent[0]?.type]);
    expect(sent[1]?.key).toBe(sent[0]?.key);
    expect(await fileIn(sent[1]?.form)).toMatchObject({ bytes: PDF });
  });

  test("still goes as JSON when it is base64", async () => {
    const { brand, sent } = sending();
    await brand.assets.create({ fileName: "a.png", contentBase64: "AA==" });
    expect(sent[0]?.type).toBe("application/json");
  });

  test("is refused before anything is sent when it is too large, nameless, or nothing to send", async () => {
    const { brand, sent } = sending();
    const big = new Uint8Array(5 * 1024 * 1024 + 1);
    let read = 0;
    const endless = async function* () {
      for (; ; read += 1) yield new Uint8Array(1024 * 1024);
    };
    const inputs: [object, string][] = [
      [{ file: big, fileName: "a.png" }, "5242881 bytes"],
      [{ file: endless(), fileName: "a.png" }, "the limit is 5242880 (5 MB)"],
      [{ file: new Blob([PDF]) }, "fileName is missing"],
      [{ file: 7, fileName: "a.png" }, "must be a Blob"],
      [{ file: PDF, fileName: "a.png", contentBase64: "AA==" }, "either file or contentBase64"],
    ];
    for (const [input, message] of inputs) {
      const failure = await brand.assets.create(input as { fileName: string; contentBase64: string }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(isMailsvcError(failure) && failure.message).toContain(message);
    }
    expect(read).toBeLessThan(8);
    expect(sent).toEqual([]);
  });
});

test("types: a File needs no name, bytes do, and other endpoints take no file", () => {
  type Input = Parameters<AgentClient["leadMagnets"]["create"]>[0];
  expectTypeOf<{ file: File; title: string }>().toExtend<Input>();
  expectTypeOf<{ file: Buffer; fileName: string; title: string }>().toExtend<Input>();
  expectTypeOf<{ contentBase64: string; fileName: string; title: string }>().toExtend<Input>();
  expectTypeOf<{ file: Uint8Array; title: string }>().not.toExtend<Input>();
  expectTypeOf<{ file: File }>().not.toExtend<Input>();
});
