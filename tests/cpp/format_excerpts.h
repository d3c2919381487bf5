// One block of every format and the numbers it holds, so that the formats are tested without the corpus.
//
// The blocks come from ggml (its quantization of normally distributed weights), as do their values. Four are
// worked by hand: F64 −1.1; F8_E4M3 0xB5 = −(1 + 5/8) · 2^(6 − 7); F8_E5M2 0x46 = (1 + 2/4) · 2^(17 − 15);
// Q8_1 the numbers −16 … 15 with scale 0x2E00 = 1.5 · 2^−4 (its sum is arbitrary: nobody reads it).
#pragma once

#include <cstdint>
#include <string_view>

namespace id2vec {

struct FormatExcerpt {
  std::string_view name;
  std::string_view block_hex;
  float first[8];     // the first values, as many as a block has
  uint64_t checksum;  // FNV-1a of all values of the block, four little-endian bytes each
};

inline constexpr FormatExcerpt kFormatExcerpts[] = {
    {"F32", "b6af243f", {0x1.495f6cp-1f}, 0xb1cb6412c395f427},
    {"F16", "2539", {0x1.494p-1f}, 0xdf6677dc71f453c},
    {"BF16", "253f", {0x1.4ap-1f}, 0x4ca7c77f9d635885},
    {"Q4_0",
     "08b260c64ce62a1d72ac67d39b7de8b5953a",
     {0x1.82p+0f, 0x1.82p-2f, -0x1.82p-1f, 0x1.82p-2f, -0x1.82p-2f, -0x1.e28p-1f, 0x1.218p+0f, -0x1.82p-1f},
     0x1fced22375436248},
    {"Q4_1",
     "9e3180bc9f29b209c4d17c42971c6481063a5ab4",
     {0x1.821p+0f, 0x1.d1cp-2f, -0x1.8c4p-1f, 0x1.d1cp-2f, -0x1.b1p-2f, -0x1.e62p-1f, 0x1.f68p-1f,
      -0x1.8c4p-1f},
     0x1b56dde0a4ecf539},
    {"Q5_0",
     "08aeb49c8a76b07c78bc5539f558beb525dac0592974",
     {0x1.82p+0f, 0x1.82p-2f, -0x1.82p-1f, 0x1.82p-2f, -0x1.e28p-2f, -0x1.b24p-1f, 0x1.096p+0f, -0x1.82p-1f},
     0xdb3a6e0b76bce4e5},
    {"Q5_1",
     "702d80bc4b6235893f527412a8c3fa853f19c7020d75b578",
     {0x1.824p+0f, 0x1.9ep-2f, -0x1.92p-1f, 0x1.9ep-2f, -0x1.c8p-2f, -0x1.bd8p-1f, 0x1.158p+0f, -0x1.668p-1f},
     0x58d31c20273d6ea3},
    {"Q8_0",
     "14227f1fbe23dab658c20e57d5b0fe3636dd26c645a659690bd827abf415a1d4ef49",
     {0x1.81f6p+0f, 0x1.78d8p-2f, -0x1.9128p-1f, 0x1.a978p-2f, -0x1.cdfp-2f, -0x1.c1c8p-1f, 0x1.0b7p+0f,
      -0x1.78d8p-1f},
     0xf7ef59c263147df9},
    {"Q2_K",
     "352312223334ff342323221226342334bd8aa1b9b2a11da0a7acb1a1e5a8a9917ee79dd55eafa9959e94a9d9615408eeae46"
     "1e92cd9052b7975e9a01064d5849efb864a7a691b7d46148561592a9ec555335a139",
     {-0x1.c9cp-2f, 0x1.378p+0f, -0x1.c9cp-2f, -0x1.c9cp-2f, 0x1.378p+0f, -0x1.c9cp-2f, -0x1.c9cp-2f,
      -0x1.0e3p+1f},
     0x86884e13ebede2ed},
    {"Q3_K",
     "add02b8dfe9f8187c66de75b4e7d795bcd97d8a6b9fda6f3f9d26770ef9ada7510cf392e270d24dbc007e93e830b3a346d1a"
     "3a4fa603c3b43dfd807e4c28c5059e283bb7e977324c488b42159ad9c2dcc10b0f61706850e20436d3115775c2d5586ab444"
     "d978b0a7a6a5526a3bad",
     {-0.0f, 0x1.4ecp-1f, -0x1.4ecp-1f, -0x1.4ecp+0f, 0x1.4ecp-1f, -0x1.4ecp-1f, -0.0f, -0x1.f62p+0f},
     0xa67ff6dd09757fe9},
    {"Q4_K",
     "52245c31140a4f3f0d070f3fafadeabef79825934925d7318ed0451378b1b356a73ac415daeb8546a8126684074162c89d80"
     "a9aeaeaa069b8abb8fa8eb9999b79fcda8b995abaab8a7a7bac99aa580cbca47b828b522096c4eb98a2659b57366edb0917c"
     "77577e8366c3887568c4e364bc7207b7d0a9889fa655a61244625674d68b75a7a7a3a9e3767154049496e554",
     {0x1.7bcp-3f, 0x1.0bcp-1f, -0x1.f56p-2f, -0x1.2a28p+0f, 0x1.b89p-1f, -0x1.f56p-2f, 0x1.7bcp-3f,
      -0x1.d6f8p+0f},
     0x289822928d6f8b0b},
    {"Q5_K",
     "c91f5e31140b503f0d070f3fafbeeccfff9b3c9eadccd2dc9f3ebc0c1d2e2e8cbfedaebcbb8ffeac8ba83c2e9ca8a80ff023"
     "5c36943abf530fa18c37e162679e3066891ab5d90c8e4125cd191e82c5814b10626d6d760d3735962e70f74342705fbb6193"
     "3b6775806f7f84a2546b21b7b69081618c5514dcae93265cb57b06eeec80420a10cf1f16dea6211bd1a9f6e998032f7ed052"
     "105f7cbb6d3498f4cc08dc270b7f5f6752e60b03d918485dfbc7",
     {0x1.028p-2f, 0x1.6acep-1f, -0x1.6c5p-2f, -0x1.44a2p+0f, 0x1.b8a8p-1f, -0x1.51dcp-1f, 0x1.9b3p-4f,
      -0x1.b969p+0f},
     0x720b22384bea26cb},
    {"Q6_K",
     "ad18c4d0c5184e45003af59e3bd8ce8004a3a3d5123c1a9f76790dc3f0101746d0980007f9121acfbd4aab14d1d2d3297511"
     "ec9b2501ad2cf4b9246aac3db51ab1cd9bbc27557404f016c0c553c7e342d60d18495dc0c1d0f2615b888bab00abf3d11cba"
     "7c79f068a33f803904bc6dc9531fdaa3718b7270eaec7f11496d806761459ea769ae116b64a36a9ea957569ab62f511dd3a3"
     "6559565c69159e98c8228d651991fa93518494699922656a5766d083679899aa88eb5a73652aa992e36a1eea120fe2e2801b"
     "1416eb11311deae87299",
     {0x1.ea14p-3f, 0x1.46b8p-1f, -0x1.46b8p-2f, -0x1.46b8p+0f, 0x1.c13dp-1f, -0x1.46b8p-1f, 0x1.46b8p-3f,
      -0x1.acd18p+0f},
     0x200f944425b0e09e},
    {"IQ4_NL",
     "45a250c53de52b1d72bc57e29b6de8b4943b",
     {0x1.8e1d8p+0f, 0x1.b6dep-2f, -0x1.b099p-1f, 0x1.b6dep-2f, -0x1.dc7cp-2f, -0x1.b099p-1f, 0x1.042f8p+0f,
      -0x1.4c49p-1f},
     0xb8a0e439ec2fb6a2},
    {"IQ4_XS",
     "52991a665809b6ad7745b9ac442a978e60de99bc86eedc6850c53ce52b1d72bc57d29b6de8b4943bdbb0667c3c9884595859"
     "8d658937069577a688a878888096868996a87c8767a914f7e7277a8d04c191d564a964baddb9fec3ac728c51708553dd8881"
     "54dcf766723c86666da545a087c8979c9a7c87a9ec8770bbaebaa8ea7b745a0193a6e557",
     {0x1.a9ap-3f, 0x1.746cp-1f, -0x1.14a8p-2f, -0x1.19fap+0f, 0x1.04b2p+0f, -0x1.0a04p-1f, 0x1.a9ap-3f,
      -0x1.d982p+0f},
     0xa9abdf41798e2a72},
    {"IQ3_S",
     "fa251a95d744eb0fd2ad2f4875917e7b0f2b303b996d218177c105641a7371006d7f02a62f3f4b0d869eadc2a177240a7861"
     "92e8c40b888e766e0e08a02e7067c40703960100320502e5ac6ecc6eb49c8a7646e99c7fdb65117030e886ebead9f89912ba"
     "a4de46fa048f23f32336",
     {0x1.f608p-2f, 0x1.f608p-2f, -0x1.4ebp-3f, -0x1.24dap+0f, 0x1.a25cp-1f, -0x1.a25cp-1f, 0x1.4ebp-3f,
      -0x1.cc32p+0f},
     0x15d5a813a93cff4a},
    {"IQ3_XXS",
     "dc258dc672204f09685977c0b754d39209b0931851453f3b07600e350c043c003a4501b72726bea54053bb38ce4911060831"
     "3fc66106404c06008911df4b6cdff65a2c37d33f348e522e6634673fdb7224fe30b4693dea2e3e23121cc88b06bda121",
     {0x1.482p-3f, 0x1.ec3p-2f, -0x1.482p-3f, -0x1.1f1cp+0f, 0x1.9a28p-1f, -0x1.ec3p-2f, 0x1.482p-3f,
      -0x1.c32cp+0f},
     0x4b38dd56304f6bca},
    {"IQ2_S",
     "522ce361c2cac224cd572fdb22a374002fdd62d3dfbed18a53a3470085d82a38d785ac6ecc6eb49c8a7646e99c7fdb651170"
     "30e886ebead9f89912baa4de46fa048f418644c1b34163502312333f22123622",
     {0x1.e3ep-2f, 0x1.e3ep-2f, -0x1.e3ep-2f, -0x1.7a07p+0f, 0x1.e3ep-2f, -0x1.e3ep-2f, 0x1.e3ep-2f,
      -0x1.7a07p+0f},
     0xd8873757d1ab83ec},
    {"IQ2_XS",
     "462c085944dc7b98f1fc8569b538609435e52dcc02d11f38e5f6cdb600ca2d22c9e3ac618ad07f4d61d7f4d419ba44f0e532"
     "9f250070694103bc280c33f4910dd81a2421333f22123622",
     {0x1.33bp-1f, 0x1.33bp-1f, -0x1.33bp-1f, -0x1.e0c3p+0f, 0x1.33bp-1f, -0x1.33bp-1f, 0x1.33bp-1f,
      -0x1.e0c3p+0f},
     0x5e6df157d6eee5d4},
    {"IQ2_XXS",
     "1f2cd95d44642c37d33fcfb4ade4348e521e528615786634673f6c000000db7224fedb6dc74930b4692d7b1a0178ea2e3e23"
     "e2254985121cc84b931ad37106bda121",
     {0x1.cd9p-2f, 0x1.cd9p-2f, -0x1.cd9p-2f, -0x1.68988p+0f, 0x1.68988p+0f, -0x1.cd9p-2f, 0x1.cd9p-2f,
      -0x1.361ccp+1f},
     0xc2070f6052159f60},
    {"IQ1_M",
     "2e8aac95ca5964b4b30dd397e241e1017fe36d1b367e0976b405d8024cbfd21a21acd1e2ccabca632602c8dcc6c1bcde0940"
     "c95309924a32",
     {0x1.ff8p-3f, 0x1.ff8p-3f, 0x1.ff8p-3f, -0x1.bf9p+0f, 0x1.ff8p-3f, 0x1.ff8p-3f, 0x1.ff8p-3f,
      -0x1.bf9p+0f},
     0xc77cce4eb6b99c2b},
    {"IQ1_S",
     "d2385a8aac95ca4ca99e000dd397e241050580e94d1b365e09760d7c1a0239bcd2111195510ae79422f95611208b9f289c15",
     {-0x1.cecp-3f, -0x1.cecp-3f, -0x1.cecp-3f, -0x1.044cp+1f, 0x1.94e8p+0f, -0x1.cecp-3f, -0x1.cecp-3f,
      -0x1.044cp+1f},
     0x1d524584312e8f63},
    {"TQ2_0",
     "5555555555551555555555555555555555555555555555555555555555555555555555555555555555555555555555555555"
     "55555555555555555555555555554749",
     {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
     0xb8e5a1eaf6966b7a},
    {"TQ1_0",
     "8080808080807d80808080808080808080808080808080808080808080808080808080808080808080808080808080807f7f"
     "7f7f4749",
     {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
     0xb8e5a1eaf6966b7a},
    {"MXFP4",
     "7d47d35de36c6e16cd41e69c2ee0c5a55b",
     {0x1.8p+0f, 0x1.8p-2f, -0x1.8p-1f, 0x1.8p-2f, -0x1p-1f, -0x1p+0f, 0x1p+0f, -0x1.8p-1f},
     0xf8987e1441cfe0d8},
    {"NVFP4",
     "2d2d3e2c041f5ab41491acb1b5c40aa90dd1f01ba91ba00050919f1a0b275166ce90f275",
     {0x1.ap-1f, -0x1.38p+1f, -0x1.ap-2f, 0x1.ap-1f, 0x1.ap-1f, 0x1.ap-3f, -0x1.ap-1f, 0x1.ap-3f},
     0x4efb44d728ff1b2},
    {"Q2_0",
     "474955555555555555555545555555555555",
     {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
     0x2c557a4f162d077a},
    {"Q1_0",
     "323acf17791415260766ed455b21b905fb70",
     {0x1.8c8p-1f, 0x1.8c8p-1f, 0x1.8c8p-1f, 0x1.8c8p-1f, -0x1.8c8p-1f, -0x1.8c8p-1f, 0x1.8c8p-1f,
      0x1.8c8p-1f},
     0x12297a2ab176b6a5},
    {"F64", "9a9999999999f1bf", {-0x1.19999ap+0f}, 0x83b16bdce18822fd},
    {"F8_E4M3", "b5", {-0x1.ap-1f}, 0x4c82c77f9d443c48},
    {"F8_E5M2", "46", {0x1.8p+2f}, 0x4a98b67f9ba34875},
    {"Q8_1",
     "002e3412f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff000102030405060708090a0b0c0d0e0f",
     {-0x1.8p+0f, -0x1.68p+0f, -0x1.5p+0f, -0x1.38p+0f, -0x1.2p+0f, -0x1.08p+0f, -0x1.ep-1f, -0x1.bp-1f},
     0x9b80403199bb89b8},
};

// The 256 floats (little-endian) that ggml quantized: the 256-wide blocks above hold them all, every other block
// holds the second run of its width.
inline constexpr std::string_view kExcerptSourceHex =
    "bf77623eb6af243f6834b6be6c38a0bf8eb8613f439024bf6732123ec307dabfa0222340ee4606c0f3a2bfbefe9f92bf4596b83e"
    "fe5bf4bf26a98bbf10b88c3b4252833e5f538f3fe19f43bf936225bf3daf843f6865d23ff6f3b2bee1fca7bd22eab53ed2d1afbf"
    "e30e25be3e4244bf8addb53c056aeebf7923babfe6dcb53e6204c13fdc1abe3e77e148bf35a3d63e0292e6be83bf61bf5761863f"
    "6f333bbf3792243e6ebb833f56ed01bf17cb72bfeac9e2bc65a2253fcc2a243fec79d2bef7e6e53e1c1630bf1502513fa21588bf"
    "23db873f38ea9e3f66050b3ed41af1bee6afee3e53f580bf3c8815be58cd793ed3ff8fbf83a804bfc6aa4ebedad55e3fa2f5443f"
    "b0a220c0b892aabe5eac803fcc957a3f1a62d23d4ac978bfc2489b3ebbceb2bc4827523ed85b953f9d0a17bfd0507e3e637d82be"
    "d018a1be81e51fbfc588a73f3de3523f522be4be6a1f73be804f99bf4780823e057e8e3d2ffe04bfa3d332bf1fa139bfb053fabc"
    "c3bfadbe51708fbd092e97bf63ba1cc08133903e043585bf91c50dc05145e13bb54c0ebee21e7bbef5daff3e84d928c12446afbf"
    "60cfd8bfeb9ba23fa2d303c046afb73e67968d40800a8bbf104889bfda6f263fe03106bf7ef80f40f5e22a3e86d1d03f8710a8bf"
    "f325d23b6941d23ea150843f927ebc3ddca1c63e48b0823f5ef4ec3f575332bfc21b3ebe35abf7bf7c5f0f405970513f1819123e"
    "493a793edb276d3eccfdb1be73af91bf571a283f3479bb3f0a5ddf3fe3b1053fda8b5d3fdb408abefa6d373fe365c3be2d1180bf"
    "6997efbdc692bf3f74c2dcbfbd6ab5bf1b17aa3fbe44443ee6b58f3c0a4ce83f3ab66fbfbb7b04bec4817cbf11b5993ecaa5f2be"
    "52ff863e39f628bf6b9c75bfe95d24bf815f883f7aed56bf86fb283ffa319bbfb4542c3f83a0a3bf832be3bf1250e9beb2403fbf"
    "bb59523f4b14cd3c6654a5bf51a629bfd4e2243f39e01dbe15e2babebb29aa3fa11b3f3fc43e873efded05be6c533dbd5d2b04bf"
    "b2aa9fbdc93eb5baf501dfbe2ac0623fd765733d3aae51bd016ad1be7b7f5f3fb704bc3fd67f9fbe5cf62f40b115d0bf656a5f3f"
    "3d52313f3ece16c06c51b53f0de68f3fbf3e864077d41f3e1a89c9bd20c0f93e3429c6bf710632bf5004cbbf6434553ee4800abf"
    "33a44c3eabca1c402e937abd551e6f3fd8b6563f6ede6bbfe8a4c93f253081bfaeb7a93d7431d9bfcfefbfbe302b14bffbaf1cbf"
    "94a4f23ea7cc6bbc017743bf33805e3f488f3bbedc65ebbf6533243fd526aa3f7770d63e3e9d42bd6dbda63ef942143f8f6440bf"
    "5cf4f13e819bd8bfbf126fbf68939fbe3dff18bf34d66bbec4f7a73f59f0bb3ddf072cbe9b011c3f3bf4d43e027e083fee42dd3e"
    "9fceba3f191a18be328b10beeda315bf1e21fabfbea0843e82abc93eb218c83f627d23bf";

}  // namespace id2vec
