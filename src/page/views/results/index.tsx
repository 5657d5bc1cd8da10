/** Everything that was measured or opened in this browser: a list, and one of them, alone or beside another. */
import './results.css';
import { View } from '../../components/view.tsx';
import { results } from '../../state/results.ts';
import { route } from '../../state/route.ts';
import { DropZone } from './drop-zone.tsx';
import { List } from './list.tsx';
import { Opened } from './opened.tsx';

export default function Results() {
  const id = Number(route.value.params.get('open') ?? Number.NaN);
  const opened = results.value.find(result => result.id === id);
  if (opened) return <Opened key={id} result={opened} />;
  return (
    <View
      title="Results"
      lead="What you measured here and what you opened from files. It is kept in this browser, and nowhere else, until you remove it. The files are those that the command writes with --json."
    >
      <DropZone />
      <List />
    </View>
  );
}
