import { View } from '../../components/view.tsx';
import { results } from '../../state/results.ts';

export default function Results() {
  const { length } = results.value;
  return (
    <View
      title="Results"
      lead={`This visit has ${length === 0 ? 'no result' : length === 1 ? 'one result' : `${length} results`} so far: the place to export, open and compare them is not here yet.`}
    />
  );
}
