// `npm run --silent changed-parts`: the names of the parts that .ci/run plays in full, one per line.
import { changedParts } from './parts.ts';

for (const part of changedParts()) process.stdout.write(`${part}\n`);
