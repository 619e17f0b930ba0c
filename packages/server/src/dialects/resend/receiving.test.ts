import { expect, test } from "vitest";
import { mail } from "../../../test/bounce-samples.ts";
import { ADA, newest, start } from "../../../test/receiving.ts";
import { toUuid } from "../../lib/uuids.ts";

test("the files of a received mail are listed, and downloaded by a link that recordings leave out", async () => {
  await using setting = await start();
  const { world } = setting;
  const { replyTo } = await setting.send();
  const raw = mail(
    ...[`From: ${ADA}`, `To: ${replyTo}`, "Subject: Re: Hi", "Message-ID: <1@mail.example.com>", "MIME-Version: 1.0"],
    ...['Content-Type: multipart/mixed; boundary="b"', "", "--b", "Content-Type: text/plain", "", "See the file.", "--b"],
    ...['Content-Type: text/csv; name="a.csv"', 'Content-Disposition: attachment; filename="a.csv"', "", "one,two", "--b--"],
  );
  expect(await setting.deliver(replyTo, raw)).toBe(250);
  await world.settle();
  const { id } = await newest(setting);
  const get = (path: string) => world.fetch(world.url + path, { headers: { authorization: `Bearer ${world.apiKey}` } });
  const listed = (await (await get(`/resend/emails/receiving/${id}/attachments`)).json()) as { data: { id: string }[] };
  expect(listed).toMatchObject({ object: "list", has_more: false, data: [{ filename: "a.csv", content_type: "text/csv" }] });
  const one = (await (await get(`/resend/emails/receiving/${id}/attachments/${listed.data[0]?.id}`)).json()) as { download_url: string };
  expect(one).toMatchObject({ object: "attachment", filename: "a.csv", content_disposition: "attachment", expires_at: expect.any(String) });
  const file = await world.fetch(one.download_url);
  expect([file.status, (await file.text()).trim()]).toEqual([200, "one,two"]);
  expect((await world.fetch(one.download_url.replace(".received.", ".sent.").replace("received.", "sent."))).status).toBe(404);
  expect((await get(`/resend/emails/receiving/${id}/attachments/2`)).status).toBe(404);

  const mailOf = await (await get(`/resend/emails/receiving/${id}`)).json();
  expect(mailOf).toMatchObject({ received_for: [replyTo], to: [replyTo], message_id: "<1@mail.example.com>" });
  expect(await (await get("/resend/emails/receiving")).json()).toMatchObject({ data: [{ id: toUuid(id), received_for: [replyTo] }] });
  await world.sdk.received.delete(id);
  expect((await world.fetch(one.download_url)).status).toBe(404);
});

test("images in the HTML of a received mail are in it, or stay files", async () => {
  await using setting = await start();
  const { world } = setting;
  const { replyTo } = await setting.send();
  const image = (id: string, text: string) => [
    ...["--b", "Content-Type: image/png", `Content-ID: <${id}>`, "Content-Transfer-Encoding: base64", ""],
    Buffer.from(text).toString("base64"),
  ];
  const html = '<img src="cid:a"><img src="cid:a.1"><img src="cid:none">';
  const raw = mail(
    ...[`From: ${ADA}`, `To: ${replyTo}`, "Subject: Re: Hi", "Message-ID: <2@mail.example.com>", "MIME-Version: 1.0"],
    ...['Content-Type: multipart/related; boundary="b"', "", "--b", "Content-Type: text/html", "", html],
    ...[...image("a", "one"), ...image("a.1", "two"), "--b--"],
  );
  expect(await setting.deliver(replyTo, raw)).toBe(250);
  await world.settle();
  const { id } = await newest(setting);
  const read = async (query: string): Promise<string> => {
    const answer = await world.fetch(`${world.url}/resend/emails/receiving/${id}${query}`, {
      headers: { authorization: `Bearer ${world.apiKey}` },
    });
    return ((await answer.json()) as { html: string }).html.trim();
  };
  expect(await read("?html_format=cid")).toBe(html);
  const inlined = '<img src="data:image/png;base64,b25l"><img src="data:image/png;base64,dHdv"><img src="cid:none">';
  expect([await read(""), await read("?html_format=data_uri")]).toEqual([inlined, inlined]);
});
