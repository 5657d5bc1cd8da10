import { GpuProblem } from '../../components/gpu-problem.tsx';
import { View } from '../../components/view.tsx';

export default function Workbench() {
  return (
    <View
      title="Workbench"
      lead="Not here yet: the place to edit a kernel, run it on your GPU, and see whether it is right and how fast it is."
    >
      <GpuProblem />
    </View>
  );
}
