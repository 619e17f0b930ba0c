// The page of the rules of lint, docs/reference/lint-rules.md, generated from the contract.
import { LINT_RULES, MAIL_CLIENTS } from "@mailsvc/sdk/contract";

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;");

/** The text of docs/reference/lint-rules.md. */
export const lintRulesPage = () =>
  [
    "# Rules of lint",
    "",
    "Generated from the contract. [Checking mail](../templates.md#checking-mail) tells how to use them.",
    "",
    "| Rule | Severity | What is wrong | What to do |",
    "| --- | --- | --- | --- |",
    ...Object.entries(LINT_RULES).map(([id, { severity, about, fix }]) => `| \`${id}\` | ${severity} | ${cell(about)} | ${cell(fix)} |`),
    "",
    "## Mail programs",
    "",
    "`client-support` knows these, by the data of [caniemail.com](https://www.caniemail.com). What only looks plainer without it, such as round",
    "corners, is not reported.",
    "",
    "| Id | Mail program |",
    "| --- | --- |",
    ...Object.entries(MAIL_CLIENTS).map(([id, name]) => `| \`${id}\` | ${name} |`),
    "",
  ].join("\n");
