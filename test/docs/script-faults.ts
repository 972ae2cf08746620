// What can be said against a shell script of the documentation without running it.
import {
  faultOfNightshift,
  faultOfVariable,
  faultsOfNames,
  isFile,
  isInstalled,
  isScript,
  operationOf,
} from './known.ts';
import { readScript, syntaxFault, type Command } from './shell.ts';

export function faultsOfScript(script: string): string[] {
  const syntax = syntaxFault(script);
  if (syntax !== null) return [syntax];
  return [...faultsOfNames(script), ...readScript(script).commands.flatMap(faultsOfCommand)];
}

export function faultsOfCommand({ variables, words }: Command): string[] {
  const [program = '', ...args] = words;
  switch (program) {
    case 'npx':
      return args[0] === 'nightshift'
        ? faultsOfCommand({ variables, words: args })
        : faultUnless(isInstalled(args[0] ?? ''), `${args[0]} is no program of this repository`);
    case 'nightshift':
      return [...faultsOfVariables(variables), faultOfNightshift(args)].filter((fault) => fault !== null);
    case 'npm':
      return [...faultsOfVariables(variables), ...faultsOfNpm(args)];
    case 'node':
      return args.flatMap(faultsOfPath);
    case 'curl':
      return faultsOfCurl(args);
    default:
      return [];
  }
}

const faultUnless = (holds: boolean, fault: string): string[] => (holds ? [] : [fault]);

const faultsOfVariables = (variables: Command['variables']): string[] =>
  Object.entries(variables).flatMap(([name, value]) => faultOfVariable(name, value) ?? []);

function faultsOfNpm([verb = '', ...args]: readonly string[]): string[] {
  const script = verb === 'run' ? args[0] : verb;
  const isOwn = ['run', 'start', 'test'].includes(verb);
  return [
    ...faultUnless(!isOwn || isScript(script ?? ''), `package.json has no script ${script}`),
    ...args.flatMap(faultsOfPath),
  ];
}

/** A word that reads like a file of this repository is one. */
const faultsOfPath = (word: string): string[] =>
  /^(?:bench|bin|docs|examples|scripts|src|test|web)\/[\w./-]+$/.test(word)
    ? faultUnless(isFile(word), `there is no file ${word}`)
    : [];

function faultsOfCurl(args: readonly string[]): string[] {
  const given = args[args.findIndex((word) => /^(?:-X|--request)$/.test(word)) + 1];
  const hasMethod = args.some((word) => /^(?:-X|--request)$/.test(word));
  return args.flatMap((word) => {
    const [, url = ''] = /^(?:https?:\/\/[^/]+|\$\w+)(\/(?:api|healthz|readyz|metrics)\S*)$/.exec(word) ?? [];
    const method = hasMethod ? (given ?? null) : null;
    // A shell function adds the rest.
    if (url === '' || url.includes('$@') || /\$[1-9*]/.test(url)) return [];
    return faultUnless(operationOf(method, url) !== null, `the API has no ${method ?? 'operation'} ${url}`);
  });
}
