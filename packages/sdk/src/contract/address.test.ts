import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AddressError, addressKey, parseAddress, parseAnyMailbox, parseMailbox, toDomain, toUnicodeDomain } from "./address.ts";

describe("one mailbox has one spelling", () => {
  // The quoted cases of the isemail suite that are addresses, and what RFC 5321 4.1.2 makes of them.
  test.each([
    ['"test"@iana.org', "test@iana.org"],
    ['"\\a"@iana.org', "a@iana.org"],
    ['"t\\est"@iana.org', "test@iana.org"],
    ['"first.last"@iana.org', "first.last@iana.org"],
    ['"test\\ test"@iana.org', '"test test"@iana.org'],
    ['"test test"@iana.org', '"test test"@iana.org'],
    ['""@iana.org', '""@iana.org'],
    ['"\\""@iana.org', '"\\""@iana.org'],
    ['"\\\\"@iana.org', '"\\\\"@iana.org'],
    ['"a@b"@iana.org', '"a@b"@iana.org'],
    ['".a"@iana.org', '".a"@iana.org'],
    ['"josé"@iana.org', "josé@iana.org"],
    ["jose\u0301@iana.org", "josé@iana.org"],
    ["ada@BÜCHER.example", "ada@xn--bcher-kva.example"],
    ["ada@bu\u0308cher.example", "ada@xn--bcher-kva.example"],
  ])("%s is %s", (written, address) => {
    expect(parseAddress(written)).toMatchObject({ address, key: address });
    expect(parseAddress(address).address).toBe(address);
  });

  test.each([
    '"""@iana.org',
    '"\\"@iana.org',
    'test"@iana.org',
    '"test@iana.org',
    '"test"test@iana.org',
    'test"text"@iana.org',
    '"test""test"@iana.org',
    '"test"."test"@iana.org',
    '"test".test@iana.org',
    '"\u007f"@iana.org',
    // Becomes a semicolon in form C.
    "a\u037eb@iana.org",
    `"${"a".repeat(40)} ${"b".repeat(40)}"@iana.org`,
  ])("%s is not an address", (text) => {
    expect(() => parseAddress(text)).toThrow(AddressError);
  });

  const content = fc.string({ unit: fc.constantFrom(..."abzAZ09.-_+ @\\\"'<>,;:é\u0301ıİßK小👩"), minLength: 1, maxLength: 12 });
  const quote = (text: string, escapeAll: boolean): string =>
    `"${text.replace(escapeAll ? /[^\p{M}]/gu : /["\\]/g, (character) => `\\${character}`)}"@example.com`;

  test("however it is quoted, escaped, composed or capitalized, its key is the same", () => {
    fc.assert(
      fc.property(content, (text) => {
        const { address, key } = parseAddress(quote(text, false));
        expect(parseAddress(quote(text, true)).address).toBe(address);
        expect(parseAddress(quote(text.normalize("NFD"), false)).address).toBe(address);
        expect(addressKey(address)).toBe(key);
        expect(addressKey(key)).toBe(key);
        expect(key).toBe(key.normalize("NFC"));
        expect(addressKey(address.toLowerCase())).toBe(key);
      }),
    );
  });

  test("a plain address is read as it is in angle brackets, which are read step by step", () => {
    const local = fc.string({ unit: fc.constantFrom("a", "B", "0", ".", "_", "+", "-", "'", "é"), maxLength: 4 });
    const domain = fc.array(fc.constantFrom("a", "b-c", "-", "--", "xn--", "0", ".", ".com", ".C", "é", "x".repeat(40)), { maxLength: 5 });
    const read = (text: string): unknown => {
      try {
        return parseMailbox(text);
      } catch (error) {
        return error;
      }
    };
    fc.assert(
      fc.property(local, domain, (name, parts) => {
        const text = `${name}@${parts.join("")}`;
        expect(read(text)).toEqual(read(`<${text}>`));
      }),
    );
  });

  test("different mailboxes have different keys", () => {
    fc.assert(
      fc.property(content, content, (a, b) => {
        const same = a.normalize("NFC").toLowerCase().normalize("NFC") === b.normalize("NFC").toLowerCase().normalize("NFC");
        expect(parseAddress(quote(a, false)).key === parseAddress(quote(b, false)).key).toBe(same);
      }),
    );
  });
});

describe("international domains", () => {
  test.each(["xn--0.tld", "xn--a.tld", "xn--u-ccb.com", "a.xn--99999999", "xn--a-ecp.ru", "XN--0.tld"])("%s is not a domain", (domain) => {
    expect(() => toDomain(domain)).toThrow("not valid Punycode");
  });

  test.each([
    ["xn--bcher-kva.example", "bücher.example"],
    ["xn--zca.de", "ß.de"],
    ["xn--fiqs8s.cn", "中国.cn"],
    ["xn--e1afmkfd.xn--p1ai", "пример.рф"],
    ["mail.example.com", "mail.example.com"],
  ])("%s is %s", (ascii, unicode) => {
    expect(toDomain(ascii)).toBe(ascii);
    expect(toUnicodeDomain(ascii)).toBe(unicode);
    expect(toDomain(unicode)).toBe(ascii);
  });

  test("what IDNA encodes is decoded again, and text that is not Punycode never hangs", () => {
    const label = fc.string({ unit: fc.constantFrom(..."abcüößéñ中国приметلا"), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(label, (text) => {
        let ascii: string;
        try {
          ascii = new URL(`http://${text}.example`).hostname;
        } catch {
          return;
        }
        expect(toDomain(toUnicodeDomain(toDomain(ascii)))).toBe(ascii);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9-]{0,40}$/), (text) => {
        try {
          toDomain(`xn--${text}.example`);
        } catch (error) {
          expect(error).toBeInstanceOf(AddressError);
        }
      }),
    );
  });
});

describe("addresses of local hosts", () => {
  test.each([
    ["root@localhost", "root@localhost"],
    ["Cron <cron@LOCALHOST>", "cron@localhost"],
    ["a@[127.0.0.1]", "a@[127.0.0.1]"],
    ["a@[IPv6:::1]", "a@[ipv6:::1]"],
    ["a@10.0.0.1", "a@10.0.0.1"],
    ["a@my_host.local", "a@my_host.local"],
  ])("%s is read where any is, and nowhere else", (text, address) => {
    expect(() => parseMailbox(text)).toThrow(AddressError);
    expect(parseAnyMailbox(text)).toMatchObject({ address, key: address });
  });

  test("all other addresses are read alike", () => {
    for (const text of ["Ada <ada@BÜCHER.example>", "ada@example.com", '"a b"@Example.com'])
      expect(parseAnyMailbox(text)).toEqual(parseMailbox(text));
    for (const text of ["ada", "a b@localhost", "a@", "a@[x]", "a@[127.0.0.1", "a@local host", "a@xn--0", "a@.", "a@a..b"])
      expect(() => parseAnyMailbox(text)).toThrow(AddressError);
  });
});

describe("what nobody sees makes no other person", () => {
  test.each(["\u200b", "\u200f", "\ufeff", "\u00a0", "\u3000", "\u2060", "\u00ad", "\u3164", "\u{e0020}"])(
    "%j is dropped at the ends",
    (mark) => {
      for (const written of [`${mark}ada@example.com`, `ada@example.com${mark}`, ` ${mark} ada@example.com ${mark} `])
        expect(parseAddress(written).key).toBe("ada@example.com");
      expect(parseMailbox(`Ada <${mark}ada@example.com${mark}>`)).toMatchObject({ name: "Ada", key: "ada@example.com" });
    },
  );

  test.each([
    "\u200b",
    "\u200d",
    "\u200f",
    "\u00ad",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\ufe0f",
    "\u034f",
    "\u3164",
    "\u115f",
    "\u{e0041}",
    "\ufffd",
    "\ue000",
    "\u2800",
  ])("%j is refused inside", (mark) => {
    for (const written of [`a${mark}da@example.com`, `ada${mark}@example.com`, `"a${mark}da"@example.com`, `ada@exa${mark}mple.com`])
      expect(() => parseAddress(written)).toThrow(AddressError);
  });

  test.each(["ａda@example.com", "ﬁona@example.com", "ada＠example.com", "ſam@example.com", "a①@example.com"])(
    "%s is refused",
    (written) => {
      expect(() => parseAddress(written)).toThrow(AddressError);
    },
  );

  test("wide dots and a wide domain are the domain that they stand for, and one dot too many is refused", () => {
    expect(parseAddress("ada@example。com").key).toBe("ada@example.com");
    expect(parseAddress("ada@ｅxample．com").key).toBe("ada@example.com");
    expect(() => parseAddress("ada@example.com.")).toThrow(AddressError);
  });
});

test("addresses of docomo and ezweb with dots in a row or at the end are one mailbox, quoted; elsewhere they are refused", () => {
  for (const [written, key] of [
    ["da..me@docomo.ne.jp", '"da..me"@docomo.ne.jp'],
    ["Taro.@DOCOMO.ne.jp", '"taro."@docomo.ne.jp'],
    ["a..b.@ezweb.ne.jp", '"a..b."@ezweb.ne.jp'],
    ['"da..me"@docomo.ne.jp', '"da..me"@docomo.ne.jp'],
  ] as const)
    expect(parseAddress(written).key).toBe(key);
  for (const written of ["da..me@example.com", "taro.@example.com", "a b.@docomo.ne.jp"])
    expect(() => parseAddress(written)).toThrow(AddressError);
});
