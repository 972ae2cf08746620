/** The completion script for zsh. */
import { OPTIONS_BEFORE, withFullNames, type CompletionCommand, type CompletionOption } from './completion-commands.ts';
import type { LiveName } from './live-names.ts';

export function zshScript(commands: readonly CompletionCommand[]): string {
  const list = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`);
  const all = withFullNames(commands);
  const longer = all.flatMap(({ name }) => (name.includes(' ') ? [`'${name}'`] : []));
  const cases = all.map(({ name, options, choices, takesFile, live, below }) => {
    const specs = options.flatMap(specsOf);
    const candidates = [...choices, ...below.map((one) => one.name)];
    const words = candidates.length > 0 ? `(${candidates.join(' ')})` : takesFile ? '_files' : NOTHING;
    const argument = live === null ? words : callOf(live, candidates);
    return `    '${name}') _arguments ${[...specs, quote('--help[display help for command]'), quote(`*: :${argument}`)].join(' ')} ;;`;
  });
  return `#compdef nightshift
# What the API has: names and ids, asked for within a second. Further arguments are candidates, too.
_nightshift_names() {
  local kind="$1"
  local -a names
  names=(\${(f)"$(nightshift complete "$kind" "\${_nightshift_api[@]}" 2>/dev/null)"} \${(M)@[2,-1]:#[a-z]*})
  compadd -a names
}
_nightshift() {
  # The API that the line names.
  local -a _nightshift_api
  local -i at
  for (( at = 2; at < CURRENT; at++ )); do
    case "\${words[at]}" in
      --url=*|--profile=*) _nightshift_api+=("\${(Q)words[at]}") ;;
      --url|--profile) if (( at + 1 < CURRENT )); then _nightshift_api+=("\${words[at]}" "\${(Q)words[at+1]}"); fi ;;
    esac
  done
  # They may stand before the command.
  while (( CURRENT > 2 )); do
    case "\${words[2]}" in
      --url|--profile)
        if (( CURRENT == 3 )); then
          if [ "\${words[2]}" = --profile ]; then _nightshift_names profiles; fi
          return
        fi
        words=("\${words[1]}" "\${(@)words[4,-1]}")
        (( CURRENT -= 2 )) ;;
      --*)
        words=("\${words[1]}" "\${(@)words[3,-1]}")
        (( CURRENT -= 1 )) ;;
      *) break ;;
    esac
  done
  local -a commands
  commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    if [[ "\${words[2]}" == -* ]]; then compadd -- ${OPTIONS_BEFORE.join(' ')}; else _describe command commands; fi
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

/** An empty list. A message in its place would keep zsh from completing options. */
const NOTHING = '()';

function specsOf({ names, summary, choices, takesValue, live }: CompletionOption): string[] {
  const what = summary.replaceAll(/[[\]:]/g, ' ');
  const value = !takesValue
    ? ''
    : `:value:${live === null ? (choices.length > 0 ? `(${choices.join(' ')})` : '_files') : callOf(live, [])}`;
  return names.map((name) => quote(`*${name}[${what}]${value}`));
}

/** The space before it keeps `_arguments` from passing options of its own before the kind. */
function callOf(live: LiveName, candidates: readonly string[]): string {
  return ` ${['_nightshift_names', live, ...candidates].join(' ')}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
