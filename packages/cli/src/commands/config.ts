import { Command } from "commander";
import { assertChoice } from "../contract/values.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { getConfigPath, parseProfileName, readConfigFile, writeConfigFile } from "../runtime/config-file.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { maskKey } from "../runtime/request.ts";
import { listOrigins, type Origin, parseDuration, parseServerUrl, resolveSettings } from "../runtime/settings.ts";
import { renderDetails, renderTable } from "../text/table.ts";
import { type ConfigFile, SETTING_KEYS, type Session, type SettingKey } from "../types.ts";

type Key = SettingKey | "profile";
export const CONFIG_KEYS: readonly Key[] = ["profile", ...SETTING_KEYS];

/** `mailsvc config …` */
export function configCommand(run: Run): Command {
  const command = new Command("config").description("Settings: flag > environment > running dev server > profile > default");
  for (const make of [getCommand, setCommand, unsetCommand, listCommand, explainCommand, pathCommand]) command.addCommand(make(run));
  return command;
}

function parseSettingKey(text: string | undefined): Key {
  if (text === undefined || !(CONFIG_KEYS as readonly string[]).includes(text))
    throw usageError(`"${text ?? ""}" is not a setting. Settings: ${CONFIG_KEYS.join(", ")}.`);
  return text as Key;
}

function maskValue(key: Key, value: string): string {
  return key === "api-key" ? maskKey(value) : value;
}

function describeOrigin(origin: Origin): string {
  return {
    flag: origin.name,
    env: `environment, ${origin.name}`,
    dev: `dev server, ${origin.name}`,
    profile: origin.name,
    default: "default",
  }[origin.source];
}

function parseSettingValue(key: Key, value: string, file: ConfigFile): string {
  if (key === "url") return parseServerUrl(value, "url");
  if (key === "timeout") parseDuration(value, "timeout");
  if (key === "profile") {
    const names = Object.keys(file.profiles);
    if (names.length === 0)
      throw usageError("There are no profiles yet.", { hint: `Make one: mailsvc login --profile ${parseProfileName(value)}` });
    assertChoice("profile", parseProfileName(value), names);
  }
  if (key === "api-key" && !/^[\x21-\x7e]{1,500}$/.test(value)) throw usageError("api-key: this is not an API key.");
  return value;
}

function getCommand(run: Run): Command {
  return runAction(
    new Command("get")
      .description("Show the current value of a setting")
      .argument("<key>", CONFIG_KEYS.join(", "))
      .option("--show-key", "Print the whole API key"),
    run,
    "connect",
    async (session, [word], flags) => {
      const key = parseSettingKey(word);
      const origin = listOrigins(key, session.host, session.settingFlags())[0];
      if (!origin)
        throw new CliError({
          code: "not_found",
          message: `${key} is not set.`,
          exit: EXIT.notFound,
          next: key === "api-key" ? "mailsvc login" : `mailsvc config set ${key} …`,
        });
      const value = flags["showKey"] === true ? origin.value : maskValue(key, origin.value);
      await session.out.data({ key, value }, () => value);
      return EXIT.ok;
    },
  );
}

function setCommand(run: Run): Command {
  return runAction(
    new Command("set")
      .description("Store a setting in the current profile")
      .argument("<key>", CONFIG_KEYS.join(", "))
      .argument("<value>", "Its value; - reads stdin")
      .addHelpText(
        "after",
        "\nExamples:\n  mailsvc config set url https://mail.example.com\n  mailsvc config set timeout 2m --profile staging",
      ),
    run,
    "connect",
    async (session, [word, given = ""]) => {
      const key = parseSettingKey(word);
      const { path, file, profile } = resolveSettings(session.host, session.settingFlags(), true);
      const value = parseSettingValue(key, given === "-" ? (await session.input.text("-", "<value>")).trim() : given, file);
      const stored: ConfigFile =
        key === "profile"
          ? { ...file, profile: value }
          : { ...file, profiles: { ...file.profiles, [profile]: { ...file.profiles[profile], [key]: value } } };
      writeConfigFile(path, stored);
      await session.out.data(
        { key, value: maskValue(key, value), profile: stored.profile, path },
        () => `${key} = ${maskValue(key, value)}`,
      );
      return EXIT.ok;
    },
  );
}

function unsetCommand(run: Run): Command {
  return runAction(
    new Command("unset").description("Remove a setting from the current profile").argument("<key>", SETTING_KEYS.join(", ")),
    run,
    "connect",
    async (session, [word]) => {
      const key = parseSettingKey(word);
      if (key === "profile") throw usageError("profile cannot be unset. To switch: mailsvc config set profile default");
      const { path, file, profile } = resolveSettings(session.host, session.settingFlags());
      const { [key]: gone, ...rest } = file.profiles[profile] ?? {};
      if (gone === undefined)
        throw new CliError({
          code: "not_found",
          message: `Profile "${profile}" has no ${key}.`,
          exit: EXIT.notFound,
          next: `mailsvc config explain ${key}`,
        });
      writeConfigFile(path, { ...file, profiles: { ...file.profiles, [profile]: rest } });
      await session.out.data({ key, profile, path }, () => `${key} is no longer set`);
      return EXIT.ok;
    },
  );
}

function originsFor(session: Session, key: Key): Origin[] {
  return listOrigins(key, session.host, session.settingFlags());
}

function listCommand(run: Run): Command {
  return runAction(new Command("list").description("Show every setting and where it comes from"), run, "connect", async (session) => {
    const rows = CONFIG_KEYS.map((key) => {
      const origin = originsFor(session, key)[0];
      return { key, value: origin ? maskValue(key, origin.value) : null, from: origin ? describeOrigin(origin) : null };
    });
    await session.out.data({ data: rows }, () =>
      renderTable(
        rows,
        [
          { title: "setting", value: (r) => r.key },
          { title: "value", value: (r) => r.value },
          { title: "from", value: (r) => r.from, flexible: true },
        ],
        session.term.out,
        session.term.columns,
      ),
    );
    return EXIT.ok;
  });
}

function explainCommand(run: Run): Command {
  return runAction(
    new Command("explain").description("Show where a setting comes from and what it overrides").argument("<key>", CONFIG_KEYS.join(", ")),
    run,
    "connect",
    async (session, [word]) => {
      const key = parseSettingKey(word);
      const origins = originsFor(session, key).map((o, i) => ({
        value: maskValue(key, o.value),
        source: o.source,
        from: describeOrigin(o),
        used: i === 0,
      }));
      await session.out.data({ key, origins }, () =>
        origins.length === 0
          ? `${key} is not set: no flag, no environment variable, no profile.`
          : renderDetails(
              origins.map((o) => [o.used ? "used" : "overridden", `${o.value}  (${o.from})`]),
              session.term.out,
            ),
      );
      return EXIT.ok;
    },
  );
}

function pathCommand(run: Run): Command {
  return runAction(new Command("path").description("Print the path of the config file"), run, "local", async (session) => {
    const file = getConfigPath(session.host);
    await session.out.data({ path: file, profiles: Object.keys(readConfigFile(file).profiles) }, () => file);
    return EXIT.ok;
  });
}
