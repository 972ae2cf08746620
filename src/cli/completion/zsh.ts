/** The completion script for zsh. */
import { withFullNames, type CompletionCommand, type CompletionOption } from './completion-commands.ts';

export function zshScript(commands: readonly CompletionCommand[]): string {
  const list = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`);
  const all = withFullNames(commands);
  const longer = all.flatMap(({ name }) => (name.includes(' ') ? [`'${name}'`] : []));
  const cases = all.map(({ name, options, choices, takesFile, below }) => {
    const specs = options.flatMap(specsOf);
    const candidates = [...choices, ...below.map((one) => one.name)];
    const argument = candidates.length > 0 ? `(${candidates.join(' ')})` : takesFile ? '_files' : ' ';
    return `    '${name}') _arguments ${[...specs, quote('--help[display help for command]'), quote(`*: :${argument}`)].join(' ')} ;;`;
  });
  return `#compdef nightshift
_nightshift() {
  local -a commands
  commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  if (( CURRENT > 2 )); then
    case "$command \${words[2]}" in
      ${longer.join('|')})
        command="$command \${words[2]}"
        shift words
        (( CURRENT-- )) ;;
    esac
  fi
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _nightshift ]; then _nightshift "$@"; else compdef _nightshift nightshift; fi
`;
}

function specsOf({ names, summary, choices, takesValue }: CompletionOption): string[] {
  const what = summary.replaceAll(/[[\]:]/g, ' ');
  const value = !takesValue ? '' : `:value:${choices.length > 0 ? `(${choices.join(' ')})` : '_files'}`;
  return names.map((name) => quote(`*${name}[${what}]${value}`));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
