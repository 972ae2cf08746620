// Removes the containers of a test run that was interrupted: node remove-run.ts <run>
import { removeContainersOf } from './containers.ts';

await removeContainersOf(process.argv[2] ?? '');
