import { Argument, Command } from "commander";
import { buildTree } from "../contract/command-tree.ts";
import { setArgumentChoices } from "../contract/metadata.ts";
import { suggestNames } from "../contract/names.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { getConfigPath, readConfigFile } from "../runtime/config-file.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import type { Host } from "../types.ts";
import { complete } from "./complete.ts";
import { CONFIG_KEYS } from "./config.ts";

// Each script asks the program itself, so that suggestions match the installed version. The program prints one suggestion
// per line, with a tab before its description; the lines ":files" and ":commands" ask for the shell's own names of them.
const SCRIPTS = {
  bash: `_mailsvc() {
  local line word prefix="" typed="\${COMP_LINE:0:COMP_POINT}"
  local -a words
  # Bash cuts words at : and =, the program does not; so the line is read here, and what bash keeps is left out of the answers.
  IFS=$' \\t' read -ra words <<< "$typed"
  [[ $typed == *[[:space:]] ]] && words+=("")
  word=\${words[\${#words[@]}-1]}
  [[ $word == *[:=]* ]] && prefix=\${word%"\${word##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ":files" || $line == ":commands" ]]; then
      local IFS=$'\\n' names=-f
      [[ $line == ":commands" ]] && names=-c
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen $names -- "\${word#"$prefix"}"))
      return
    fi
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$prefix"}")
  done < <(mailsvc __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _mailsvc mailsvc
`,
  zsh: `#compdef mailsvc
_mailsvc() {
  local line
  local -a offers
  for line in "\${(@f)$(mailsvc __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == ":files" ]]; then
      _files
      return
    fi
    if [[ $line == ":commands" ]]; then
      _command_names -e
      return
    fi
    offers+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -t values mailsvc offers
}
if [[ $funcstack[1] == _mailsvc ]]; then _mailsvc "$@"; else compdef _mailsvc mailsvc; fi
`,
  fish: `function __mailsvc_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l offers (mailsvc __complete -- $words[2..-1] 2>/dev/null)
  if test "$offers[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else if test "$offers[1]" = ":commands"
    __fish_complete_command
  else
    printf '%s\\n' $offers
  end
end
complete -c mailsvc -f -a '(__mailsvc_complete)'
`,
  pwsh: `Register-ArgumentCompleter -Native -CommandName mailsvc -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  foreach ($line in @(mailsvc __complete -- @words 2>$null)) {
    if ($line -in ':files', ':commands') { return }
    $value, $about = $line -split "\`t", 2
    if (-not $about) { $about = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
  }
}
`,
} as const;

export const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

const INSTALL: Readonly<Record<keyof typeof SCRIPTS, string>> = {
  bash: "echo 'source <(mailsvc completion bash)' >> ~/.bashrc",
  zsh: "mailsvc completion zsh > ~/.zfunc/_mailsvc   (with fpath+=~/.zfunc before compinit)",
  fish: "mailsvc completion fish > ~/.config/fish/completions/mailsvc.fish",
  pwsh: "mailsvc completion pwsh | Out-String | Invoke-Expression   (in $PROFILE)",
};

/** `mailsvc completion <shell>`: prints the completion script. */
export function completionCommand(run: Run): Command {
  const help = SHELLS.map((shell) => `  ${shell.padEnd(5)} ${INSTALL[shell]}`).join("\n");
  const command = new Command("completion")
    .description("Print a completion script")
    .addArgument(setArgumentChoices(new Argument("<shell>", SHELLS.join(", ")), SHELLS))
    .addHelpText("after", `\nInstall:\n${help}`);
  return runAction(command, run, "local", async (session, [shell = ""]) => {
    if (!(SHELLS as string[]).includes(shell)) throw usageError(`"${shell}" is not a supported shell: ${SHELLS.join(", ")}.`);
    await session.out.text(SCRIPTS[shell as keyof typeof SCRIPTS]);
    return EXIT.ok;
  });
}

/** `mailsvc __complete -- words…`: what the scripts call. Hidden. */
export function completeCommand(run: Run, root: Command): Command {
  const command = new Command("__complete").argument("[words...]").allowUnknownOption();
  return runAction(command, run, "local", async (session) => {
    const words = session.host.argv.slice(session.host.argv.indexOf("--") + 1);
    const result = await complete(buildTree(root), words, {
      profiles: () => listProfiles(session.host),
      configKeys: CONFIG_KEYS,
      names: (path, prefix) => suggestNames(session, path, prefix),
    });
    const lines =
      result.by === "shell"
        ? [`:${result.names}`]
        : result.suggestions.map((s) => (s.about === "" ? s.value : `${s.value}\t${s.about.replace(/\s+/g, " ")}`));
    if (lines.length > 0) await session.out.text(`${lines.join("\n")}\n`);
    return EXIT.ok;
  });
}

function listProfiles(host: Host): string[] {
  try {
    return Object.keys(readConfigFile(getConfigPath(host)).profiles);
  } catch {
    return [];
  }
}
