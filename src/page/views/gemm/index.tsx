import { GpuProblem } from '../../components/gpu-problem.tsx';
import { View } from '../../components/view.tsx';

export default function Gemm() {
  return (
    <View
      title="GEMM"
      lead="Not here yet: the place to describe a product and see which kernel the library chooses for your GPU, and why."
    >
      <GpuProblem />
    </View>
  );
}
