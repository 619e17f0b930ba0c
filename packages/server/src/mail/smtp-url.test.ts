import { describe, expect, test } from "vitest";
import { parseSmtpUrl, SmtpUrlError } from "./smtp-url.ts";

describe("An SMTP URL", () => {
  test("says where to go, and all the rest has defaults", () => {
    expect(parseSmtpUrl("smtp://mail.example.com")).toEqual({
      host: "mail.example.com",
      port: 587,
      implicitTls: false,
      tls: "opportunistic",
      verify: true,
      auth: null,
    });
    expect(parseSmtpUrl("smtps://mail.example.com")).toMatchObject({ port: 465, implicitTls: true, tls: "required" });
    expect(parseSmtpUrl("smtp://[::1]:2525/")).toMatchObject({ host: "::1", port: 2525, verify: false });
  });

  test("sends no password in the clear unless told so, except on this machine", () => {
    expect(parseSmtpUrl("smtp://u:p@mail.example.com")).toMatchObject({ tls: "required", verify: true, auth: { user: "u", pass: "p" } });
    expect(parseSmtpUrl("smtp://u:p@mail.example.com?tls=opportunistic")).toMatchObject({ tls: "opportunistic" });
    for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"]) {
      expect(parseSmtpUrl(`smtp://u:p@${host}`)).toMatchObject({ tls: "opportunistic", verify: false });
    }
    expect(parseSmtpUrl("smtp://127.0.0.1.example.com")).toMatchObject({ verify: true });
  });

  test("carries any character of user and password as %XX", () => {
    expect(parseSmtpUrl("smtp://a%40b.example:p%3A%2F%23%25%C3%BC@h.example").auth).toEqual({ user: "a@b.example", pass: "p:/#%ü" });
  });

  test("takes options", () => {
    expect(
      parseSmtpUrl("smtp://h.example?tls=required&verify=false&pool=9&messages=50&name=mx.acme.example&connect=1&greeting=2&timeout=3"),
    ).toMatchObject({
      tls: "required",
      verify: false,
      maxConnections: 9,
      maxMessages: 50,
      name: "mx.acme.example",
      connectMs: 1000,
      greetingMs: 2000,
      socketMs: 3000,
    });
    expect(parseSmtpUrl("smtp://h.example?name=[IPv6:2001:db8::1]")).toMatchObject({ name: "[IPv6:2001:db8::1]" });
  });

  test.each([
    ["http://h.example", /starts with smtp/],
    ["mail.example.com:25", /starts with smtp/],
    ["smtp://", /no host|cannot be read/],
    ["smtp://h.example:99999", /cannot be read/],
    ["smtp://h.example:0", /port.* 0/],
    ["smtp://h.example/path", /path/],
    ["smtp://u:secret#x@h.example", /#|cannot be read/],
    ["smtp://u@h.example", /no password/],
    ["smtp://:secret@h.example", /no user/],
    ["smtp://u:secret%zz@h.example", /password.*%25/],
    ["smtp://u:secret%0d%0aRSET@h.example", /password.*control/],
    ["smtp://h%0d.example", /cannot be read|host/],
    ["smtp://h.example?tls=maybe", /tls=maybe: use required/],
    ["smtps://h.example?tls=off", /contradicts smtps/],
    ["smtp://h.example?pool=0", /pool=0: a whole number from 1 to 100/],
    ["smtp://h.example?pool=1e2", /pool=1e2/],
    ["smtp://h.example?timeout=-5", /timeout=-5/],
    ["smtp://h.example?name=a%0d%0ab", /name=.*host name/],
    ["smtp://h.example?verify=no", /verify=no/],
    ["smtp://h.example?tsl=off", /unknown option tsl; known are tls, verify, pool/],
    ["smtp://h.example?__proto__=1", /unknown option __proto__/],
    ["smtp://h.example?pool=1&pool=2", /pool twice/],
  ])("%j is refused with the reason, and without the password", (url, reason) => {
    expect(() => parseSmtpUrl(url)).toThrow(SmtpUrlError);
    expect(() => parseSmtpUrl(url)).toThrow(reason);
    expect(() => parseSmtpUrl(url)).not.toThrow(/secret/);
  });
});
