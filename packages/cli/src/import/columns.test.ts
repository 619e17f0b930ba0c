import { formatCustomColumn } from "@mailsvc/sdk/contact-files";
import { describe, expect, test } from "vitest";
import type { CliError } from "../runtime/errors.ts";
import { createFlaggedResolver, resolveColumns } from "./columns.ts";
import { CONTACTS, type ImportKind, SUPPRESSIONS } from "./kind.ts";

const targets = (names: string[], map: string[] = [], keepCustom = true, kind: ImportKind = CONTACTS, sample: string[] = []) =>
  resolveColumns(createFlaggedResolver(kind, { map, keepCustom }), 1, names, [sample]).map((target) =>
    target.to === "field"
      ? target.field
      : target.to === "consent"
        ? target.kind
        : target.to === "custom"
          ? `custom:${target.key}${target.type ? `:${target.type}` : ""}`
          : target.to,
  );
const failure = (...args: Parameters<typeof targets>) => {
  try {
    targets(...args);
  } catch (error) {
    return (error as CliError).failure;
  }
  throw new Error("It was taken.");
};

describe("names of columns", () => {
  test.each([
    ["E-mail", "email"],
    ["EMAIL ADDRESS", "email"],
    [" email ", "email"],
    ["E-mail 1 - Value", "email"],
    ["First Name", "firstName"],
    ["first_name", "firstName"],
    ["FNAME", "firstName"],
    ["Surname", "lastName"],
    ["Mobile", "phone"],
    ["Tags", "tags"],
    ["Subscribed", "opt-in"],
    ["custom.plan", "custom:plan"],
    ["Custom. plan ", "custom:plan"],
    ['custom." plan "', "custom: plan "],
    ["customFields", "customFields"],
    ["attributes", "customFields"],
    ["Company", "custom:Company"],
    ["constructor", "custom:constructor"],
    ["id", "ignored"],
    ["createdAt", "ignored"],
    ["import.problem", "ignored"],
    ["", "ignored"],
  ])("%j is %s", (name, target) => {
    const names = target === "email" ? [name] : ["email", name];
    expect(targets(names).at(-1)).toBe(target);
  });

  test("custom fields can be left out", () => {
    expect(targets(["email", "Company", "custom.plan"], [], false)).toEqual(["email", "ignored", "custom:plan"]);
  });

  test("a custom field's column is read back as the key it stands for", () => {
    for (const key of ["plan", " plan", "plan ", '"plan"', '"', "a.b", "naïve", "custom.x", "Plan"])
      expect(targets(["email", formatCustomColumn(key)])).toEqual(["email", `custom:${key}`]);
  });

  test("suppressions know their own", () => {
    expect(targets(["Email", "Reason", "Scope", "Comment", "Company", "id"], [], true, SUPPRESSIONS)).toEqual([
      "email",
      "reason",
      "scope",
      "note",
      "ignored",
      "ignored",
    ]);
  });
});

describe("--map", () => {
  test("names a column by its name, in any case, or its position", () => {
    expect(targets(["Contact", "Name", "x"], ["contact=email", "#2=firstName", "x=-"])).toEqual(["email", "firstName", "ignored"]);
  });

  test("gives custom fields other names, and types", () => {
    expect(targets(["email", "Joined", "a=b"], ["Joined=custom.joined:date", "a=b=custom.with:colon"])).toEqual([
      "email",
      "custom:joined:date",
      "custom:with:colon",
    ]);
  });

  test.each([
    [["nonsense"], '--map "nonsense": write --map "Column=field".'],
    [["Nope=email"], '--map "Nope=email": column Nope not found.'],
    [["#9=email"], '--map "#9=email": column #9 not found.'],
    [["email=surnam"], '--map "email=surnam": "surnam" is not a field.'],
  ])("%j is refused", (map, message) => {
    expect(failure(["email", "x"], map)).toMatchObject({ exit: 2, message });
  });
});

describe("what cannot be imported says line, column and remedy", () => {
  test("no column for the address", () => {
    expect(failure(["Name", "Contact"], [], true, CONTACTS, ["Ada", "ada@example.com, at work"])).toMatchObject({
      exit: 3,
      code: "no_email_column",
      message: "Line 1: no email column found.",
      hint: 'Columns: Name, Contact. Name the one with the address: --map "Contact=email"',
    });
  });

  test("no line of names", () => {
    expect(failure(["ada@example.com", "Ada"])).toMatchObject({
      exit: 3,
      code: "no_header",
      hint: expect.stringContaining('--header "email,firstName"'),
    });
  });

  test.each([
    [["ada@example.com"], ["bob@example.com"]],
    [
      ["Ada", "ada@example.com"],
      ["Bob", "bob@example.com"],
    ],
  ])("no line of names above rows that begin with %j", (names, row) => {
    expect(failure(names, [], true, CONTACTS, row)).toMatchObject({ exit: 3, code: "no_header" });
    expect(failure(names, [`#${names.length}=email`], true, CONTACTS, row)).toMatchObject({ code: "no_header" });
  });

  test("one column whose cells are all addresses is the address, whatever it is called", () => {
    expect(targets(["Name", "Kontakt"], [], true, CONTACTS, ["Ada", "ada@example.com"])).toEqual(["custom:Name", "email"]);
    expect(failure(["One", "Two"], [], true, CONTACTS, ["ada@example.com", "bob@example.com"])).toMatchObject({ code: "no_email_column" });
  });

  test("two columns may become one field", () => {
    expect(targets(["E-mail", "Phone", "Mobile"])).toEqual(["email", "phone", "phone"]);
  });

  test("a column that may be about consent stops the import until somebody says what it is", () => {
    const asked = failure(["email", "newsletter_weekly"], [], true, CONTACTS, ["ada@example.com", "yes"]);
    expect(asked).toMatchObject({ exit: 3, code: "unclear_consent", hint: expect.stringContaining('--map "newsletter_weekly=opt-out"') });
    expect(asked.details?.[0]).toMatchObject({ path: "column 2 (newsletter_weekly)", message: 'Has cells such as "yes".' });
    for (const [said, target] of [
      ["opt-out", "opt-out"],
      ["opt-in", "opt-in"],
      ["status", "status"],
      ["custom.weekly", "custom:weekly"],
      ["-", "ignored"],
    ] as const)
      expect(targets(["email", "newsletter_weekly"], [`newsletter_weekly=${said}`], true, CONTACTS, ["ada@example.com", "yes"])).toEqual([
        "email",
        target,
      ]);
    expect(failure(["email", "newsletter_weekly"], [], false, CONTACTS, ["ada@example.com", "yes"]).code).toBe("unclear_consent");
    expect(failure(["email", "type"], [], true, CONTACTS, ["ada@example.com", "unsubscribed"]).code).toBe("unclear_consent");
    expect(failure(["email", "opted_out"], [], true, CONTACTS, ["ada@example.com", "perhaps"]).code).toBe("unclear_consent");
    expect(targets(["email", "newsletter_weekly"], [], true, CONTACTS, ["ada@example.com", "two topics of mine"])).toEqual([
      "email",
      "custom:newsletter_weekly",
    ]);
  });
});
