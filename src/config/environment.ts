/** Reads environment variables and collects their faults. A fault names the variable and never its value. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type Parsed<T> = { ok: true; value: T } | { ok: false; fault: string };

export function parsedIf<T>(isValid: boolean, value: T, fault: string): Parsed<T> {
  return isValid ? { ok: true, value } : { ok: false, fault };
}

const DAY_MS = 86_400_000;

/** An empty variable counts as not set. `faults` grows as variables are read. */
export function readEnvironment(env: Environment) {
  const faults: string[] = [];
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const parsed = <T>(name: string, parse: (value: string) => Parsed<T>): T | null => {
    const value = text(name);
    if (value === null) return null;
    const result = parse(value);
    if (result.ok) return result.value;
    faults.push(`${name} ${result.fault}`);
    return null;
  };
  const optionalInteger = (name: string, least: number, most: number): number | null =>
    parsed(name, (value) => parseInteger(value, least, most));
  const integer = (name: string, otherwise: number, least: number, most: number): number =>
    optionalInteger(name, least, most) ?? otherwise;
  return {
    faults,
    text,
    parsed,
    optionalInteger,
    integer,
    milliseconds: (name: string, otherwise: number): number => integer(name, otherwise, 1, DAY_MS),
    url: (name: string, protocols: readonly string[]): string | null =>
      parsed(name, (value) => parseUrl(value, protocols)),
    oneOf: <T extends string>(name: string, otherwise: T, choices: readonly T[]): T =>
      parsed(name, (value) => parseChoice(value, choices)) ?? otherwise,
  };
}

function parseInteger(value: string, least: number, most: number): Parsed<number> {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  return parsedIf(number >= least && number <= most, number, `must be a whole number from ${least} to ${most}`);
}

function parseUrl(value: string, protocols: readonly string[]): Parsed<string> {
  const isValid = protocols.includes(URL.parse(value)?.protocol ?? '');
  return parsedIf(isValid, value, `must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
}

function parseChoice<T extends string>(value: string, choices: readonly T[]): Parsed<T> {
  const choice = choices.find((known) => known === value);
  return choice === undefined
    ? { ok: false, fault: `must be one of ${choices.join(', ')}` }
    : { ok: true, value: choice };
}
