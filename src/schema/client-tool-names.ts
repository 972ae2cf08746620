/** Names of client tools: each must be unique, and none may be that of a tool that worker processes run. */
import { faultAt, type Fault, type Path } from './fault.ts';

/** `tools`: tools without a name are skipped. `at`: the path of the list. */
export function clientToolNameFaults(
  tools: readonly ({ name?: string | undefined } | undefined)[],
  isTaken: (name: string) => boolean,
  at: Path,
): Fault[] {
  const earlier = new Set<string>();
  return tools.flatMap((tool, index): Fault[] => {
    const name = tool?.name;
    if (name === undefined) return [];
    const isRepeated = earlier.has(name);
    earlier.add(name);
    const place = [...at, index, 'name'];
    if (isTaken(name)) {
      return [faultAt(place, `${name} is the name of a tool that worker processes run. Use another name`)];
    }
    return isRepeated ? [faultAt(place, `an earlier tool in the list has the name ${name}. Names must be unique`)] : [];
  });
}
