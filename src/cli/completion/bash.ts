/** The completion script for bash. */
import { withFullNames, type CompletionCommand } from './completion-commands.ts';

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
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  local options='' choices='' files=0 values='' given=0 live=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$word"))
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command \${COMP_WORDS[2]}" in
      ${longer.join('|')}) command="$command \${COMP_WORDS[2]}" ;;
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
