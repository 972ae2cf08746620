/** The saved views of the user who is signed in, in this browser. */
import { useWhose } from '../../../data/query/session.ts';
import { storedJson, type StoredJson } from '../../../ui/state/stored-json.ts';
import { viewsOf, withName, withoutView, withView, type View } from './views.ts';

type Views = {
  views: readonly View[];
  save: (view: View) => void;
  rename: (from: string, to: string) => void;
  remove: (name: string) => void;
};

/** By tenant and user: filters can have names of users and contexts. */
const stores = new Map<string, StoredJson<readonly View[]>>();

function storeOf(whose: string): StoredJson<readonly View[]> {
  const store = stores.get(whose) ?? storedJson<readonly View[]>(`jobs.views ${whose}`, viewsOf, []);
  stores.set(whose, store);
  return store;
}

export function useViews(): Views {
  const { use, read, set } = storeOf(useWhose());
  return {
    views: use(),
    save: (view) => set(withView(read(), view)),
    rename: (from, to) => set(withName(read(), from, to)),
    remove: (name) => set(withoutView(read(), name)),
  };
}
