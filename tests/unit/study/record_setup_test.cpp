// What records say in words about machines and programs.

#include "study/record_setup.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "study/record_links.h"
#include "study/record_names.h"
#include "tests/support/published_runs.h"

namespace stagewright {
namespace {

LinkSpec network(const std::string& words, std::int32_t devices_per_node = 8) {
  LinkSpec link{.name = "usual", .bandwidth = BytesPerSecond(50e9)};
  EXPECT_TRUE(read_network(words, devices_per_node, link)) << words;
  return link;
}

TEST(RecordLinks, RatesOfPortsNodesAndDevices) {
  struct Said {
    const char* words;
    double bandwidth;
    std::int32_t devices_per_port;
  };
  for (const Said& said : {Said{"4x100 Gb/s Omni-Path per node", 12.5e9, 2},
                           Said{"(8x400 Gb/s NDR)", 50e9, 1},
                           Said{"1600 Gb/s RoCE per node", 25e9, 1},
                           Said{"3.2 Tbps EFA", 50e9, 1},
                           Said{"EFA, 400 Gbps", 6.25e9, 1},
                           Said{"400 Gb/s RDMA per GPU", 50e9, 1},
                           Said{"2 x 200Gbps per GPU", 50e9, 1},
                           Said{"200 Gbps HDR InfiniBand", 25e9, 1},
                           Said{"100GbE", 12.5e9, 8},
                           Said{"25 Gbit/s Ethernet", 3.125e9, 8},
                           Said{"InfiniBand, 25 GB/s per GPU", 25e9, 1}}) {
    const LinkSpec link = network(said.words);
    EXPECT_DOUBLE_EQ(link.bandwidth.count(), said.bandwidth) << said.words;
    EXPECT_EQ(link.devices_per_port, said.devices_per_port) << said.words;
  }
  EXPECT_EQ(network("EFA").name, "usual");
}

TEST(RecordLinks, CardsWithoutNvlinkExchangeOverPcie) {
  const DataFiles files = DataFiles::embedded();
  const LinkSpec usual = find_device(files, "a100-80gb-sxm").value().intra_node;
  const auto said = [&](const char* words) {
    LinkSpec link = usual;
    read_node_link(words, link);
    return link;
  };
  EXPECT_EQ(said("NVLink3 + NVSwitch"), usual);
  EXPECT_EQ(said("PCIe 4.0 and NVLink"), usual);
  EXPECT_DOUBLE_EQ(said("PCIe Gen3 x16").bandwidth.count(), 15.5e9);
  EXPECT_DOUBLE_EQ(said("PCIe 5.0").bandwidth.count(), 63e9);
  EXPECT_DOUBLE_EQ(said("PCIe").bandwidth.count(), 31e9);
}

TEST(RecordNames, DevicesAsPeopleWriteThem) {
  const DataFiles files = DataFiles::embedded();
  const std::vector<std::pair<const char*, const char*>> names{
      {"NVIDIA H100 80GB SXM5", "h100-80gb-sxm"},
      {"A100-SXM4-40GB", "a100-40gb-sxm"},
      {"A100 PCIe 40GB", "a100-40gb-pcie"},
      {"NVIDIA GeForce RTX 4090", "rtx4090-24gb"},
      {"RTX 3090", "rtx3090-24gb"},
      {"NVIDIA RTX A6000", "rtxa6000-48gb"},
      {"RTX 6000 Ada", "rtx6000ada-48gb"},
      {"Tesla T4", "t4-16gb"},
      {"A10", "a10-24gb"},
      {"L40", "l40-48gb"},
      {"H20", "h20-96gb-sxm"},
      {"AMD Instinct MI325X", "mi325x-256gb"},
      {"TPU v5p", "tpu-v5p"},
      {"Habana Gaudi 2", "gaudi2-96gb"},
      {"Ascend 910B", "ascend910b-64gb"},
  };
  for (const auto& [words, name] : names) {
    const auto device = device_named(files, words);
    ASSERT_TRUE(device) << words << ": " << device.error().to_string();
    EXPECT_EQ(device->name, name) << words;
  }
  EXPECT_FALSE(device_named(files, "Z9000"));
}

TEST(RecordNames, FrameworksByTheWordsThatTheyBeginWithOrHold) {
  const DataFiles files = DataFiles::embedded();
  EXPECT_EQ(framework_named(files, "Megatron-LM (core 0.7)")->name, "megatron-lm");
  EXPECT_EQ(framework_named(files, "NVIDIA NeMo 24.05")->name, "nemo");
  EXPECT_EQ(framework_named(files, "Hugging Face with DeepSpeed ZeRO-3")->name, "deepspeed");
  EXPECT_EQ(framework_named(files, "DeepSpeed with Megatron-LM")->name, "deepspeed");
  EXPECT_FALSE(framework_named(files, "abc"));
}

/// The setup of Megatron-LM's first published run, changed.
TrainingSetup changed(const std::function<void(MeasuredRecord&)>& change) {
  static const DataFiles kFiles = DataFiles::embedded();
  for (RecordLine& line : parse_measured_records(published_runs())) {
    if (line.dataset == "megatron_sc21" && line.record) {
      change(*line.record);
      return RecordSetups(kFiles).setup_of(*line.record).value();
    }
  }
  ADD_FAILURE() << "no run of megatron_sc21";
  return {};
}

// Its profile is that of 2019 to 2022; what came later is Megatron-Core.
TEST(RecordSetups, ANameOfSeveralVersionsMeansTheOneThatHasWhatTheRunUses) {
  EXPECT_EQ(changed([](MeasuredRecord&) {}).framework.name, "megatron-lm");
  EXPECT_EQ(changed([](MeasuredRecord& r) {
              r.device = "h100";
              r.iteration_seconds = *r.iteration_seconds / 2;
            }).framework.name,
            "megatron");
  EXPECT_EQ(changed([](MeasuredRecord& r) { r.run.flash_attention = true; }).framework.name,
            "megatron");
  EXPECT_EQ(changed([](MeasuredRecord& r) {
              r.run.shape.activation = OpVariant::kSwiGlu;
            }).framework.name,
            "megatron");
}

}  // namespace
}  // namespace stagewright
