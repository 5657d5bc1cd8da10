import { GpuProblem } from '../../components/gpu-problem.tsx';
import { View } from '../../components/view.tsx';

export default function Race() {
  return (
    <View
      title="Race"
      lead="Not here yet: the place to run this library and its peers side by side on your GPU."
    >
      <GpuProblem />
    </View>
  );
}
