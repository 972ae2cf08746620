/** The completion script for bash. */
import { OPTIONS_BEFORE, withFullNames, type CompletionCommand } from './completion-commands.ts';

export function bashScript(commands: readonly CompletionCommand[]): string {
  const all = withFullNames(commands);
  const cases = all.map(
    ({ name, options, choices, takesFile, live, below }) =>
      `    '${name}') options='${[...options.flatMap(({ names }) => names), '--help'].join(' ')}'; choices='${[...choices, ...below.map((one) => one.name)].join(' ')}'; files=${takesFile ? 1 : 0}; live='${live ?? ''}' ;;`,
  );
  const longer = all.flatMap(({ name }) => (name.includes(' ') ? [`'${name}'`] : []));
  const values = all.flatMap(({ name, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ names, choices, live }) =>
          `    ${names.map((option) => `'${name}:${option}'`).join('|')}) values='${choices.join(' ')}'; live='${live ?? ''}'; given=1 ;;`,
      ),
  );
  return `# bash completion for nightshift
# What the API has: names and ids, asked for within a second.
_nightshift_names() {
  # The API that the line names. Bash makes a word of its own of \`=\`, and of the colons of an address.
  local line="\${COMP_LINE:0:COMP_POINT}" rest option api=()
  for option in url profile; do
    rest="\${line#*[[:space:]]--$option[=[:space:]]}"
    if [ "$rest" != "$line" ]; then
      rest="\${rest#"\${rest%%[![:space:]]*}"}"
      case "$rest" in *[[:space:]]*) api+=("--$option" "\${rest%%[[:space:]]*}") ;; esac
    fi
  done
  "\${COMP_WORDS[0]}" complete "$1" "\${api[@]}" 2>/dev/null
}
_nightshift() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before command at=1 last words=()
  local options='' choices='' files=0 values='' given=0 live=''
  COMPREPLY=()
  # The words of the line, as far as the one to complete. Bash makes several of an address.
  read -ra words <<< "\${COMP_LINE:0:COMP_POINT}."
  last=$((\${#words[@]} - 1))
  before="\${words[last - 1]}"
  # Options of the API may stand before the command.
  while [ "$at" -lt "$last" ]; do
    case "\${words[at]}" in
      --url|--profile) at=$((at + 2)) ;;
      --*) at=$((at + 1)) ;;
      *) break ;;
    esac
  done
  if [ "$at" -gt "$last" ]; then
    if [ "$before" = --profile ]; then COMPREPLY=($(compgen -W "$(_nightshift_names profiles)" -- "$word")); fi
    return
  fi
  if [ "$at" -eq "$last" ]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} ${OPTIONS_BEFORE.join(' ')}' -- "$word"))
    return
  fi
  command="\${words[at]}"
  if [ "$last" -gt "$((at + 1))" ]; then
    case "$command \${words[at + 1]}" in
      ${longer.join('|')}) command="$command \${words[at + 1]}" ;;
    esac
  fi
  case "$command:$before" in
${values.join('\n')}
  esac
  if [ "$given" -eq 1 ]; then
    if [ -n "$live" ]; then COMPREPLY=($(compgen -W "$(_nightshift_names "$live")" -- "$word"))
    elif [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
    return
  fi
  case "$command" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$options $choices" -- "$word"))
  if [ -n "$live" ] && [ "\${word#-}" = "$word" ]; then
    COMPREPLY+=($(compgen -W "$(_nightshift_names "$live")" -- "$word"))
  fi
  if [ "$files" -eq 1 ]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _nightshift nightshift
`;
}
